#define STICTION_EIGEN_INSTANCE template
#include "stiction/base/eigen_instances.hpp"
