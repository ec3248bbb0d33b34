"""python -m stiction.sweep: a module beside the one that stiction imports, which Python would warn about."""

import sys

from . import main

sys.exit(main())
