"""Trains a small policy to keep the biped on its feet: PPO of Stable-Baselines3 on the CPU, minutes on two cores.

pip install 'stiction[envs]' stable-baselines3 matplotlib
python examples/train_biped.py --steps 1000000 --every 50000 --figure docs/train_biped.svg
"""

import argparse
import time

import gymnasium
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

import stiction.envs  # noqa: F401  registers its environments


class Vector(VecEnv):
    """A stiction vector as Stable-Baselines3 wants it: reset within the step that ends an episode."""

    def __init__(self, name, number, **arguments):
        self.envs = gymnasium.make_vec(name, num_envs=number, **arguments).unwrapped
        super().__init__(number, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self):
        return self.envs.reset(seed=self._seeds[0])[0].astype(np.float32)

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        seen, rewards, ended, cut, _ = self.envs.step(self.actions)
        over = ended | cut
        infos = [{} for _ in range(self.num_envs)]
        if over.any():
            for i in np.flatnonzero(over):
                infos[i] = {"terminal_observation": seen[i].astype(np.float32), "TimeLimit.truncated": bool(~ended[i])}
            seen = self.envs.reset(options={"reset_mask": over})[0]
        return seen.astype(np.float32), rewards.astype(np.float32), over, infos

    def close(self):
        self.envs.close()

    def get_attr(self, attr_name, indices=None):
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name, value, indices=None):
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name, *args, indices=None, **kwargs):
        return [getattr(self.envs, method_name)(*args, **kwargs)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * self.num_envs


def evaluate(policy, push, episodes=32, seed=1000):
    """Mean reward and length of an episode, and the share that lasts; policy: None for the posture held."""
    envs = gymnasium.make_vec("stiction/Biped-v0", num_envs=episodes, push=push).unwrapped
    seen, _ = envs.reset(seed=seed)
    up, total, length = np.ones(episodes, bool), np.zeros(episodes), np.zeros(episodes)
    while up.any():
        actions = np.zeros((episodes, 10)) if policy is None else policy.predict(seen, deterministic=True)[0]
        seen, rewards, ended, cut, _ = envs.step(actions)
        total += up * rewards
        length += up
        up &= ~(ended | cut)
    return total.mean(), length.mean(), (length >= envs.max_episode_steps).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--every", type=int, default=20_000, help="steps between evaluations")
    parser.add_argument("--push", type=float, default=1.0, help="largest speed at the start, m/s")
    parser.add_argument("--figure")
    options = parser.parse_args()
    envs = VecMonitor(Vector("stiction/Biped-v0", 16, push=options.push))
    # Joint targets drawn with a standard deviation of exp(-1.5), 5 degrees: the default, 23, throws it down at once.
    small = {"n_steps": 256, "batch_size": 512, "policy_kwargs": {"log_std_init": -1.5}}
    policy = PPO("MlpPolicy", envs, learning_rate=1e-3, gamma=0.95, **small, seed=0, device="cpu")
    held = evaluate(None, options.push)
    print(f"posture held: reward {held[0]:.0f}, {held[1]:.0f} of 500 actions, {held[2]:.0%} still up", flush=True)
    rows = [(0, *evaluate(policy, options.push))]
    start = time.perf_counter()
    while policy.num_timesteps < options.steps:
        policy.learn(options.every, reset_num_timesteps=False)
        rows.append((policy.num_timesteps, *evaluate(policy, options.push)))
        seconds = time.perf_counter() - start
        print(
            "{:7d} actions: reward {:.0f}, {:.0f} of 500 actions, {:.0%} still up".format(*rows[-1]),
            f"{seconds:.0f} s",
            flush=True,
        )
    if options.figure:
        draw(rows, held, options.figure)


def draw(rows, held, file):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    actions, _, _, share = np.array(rows).T
    axes.plot(actions / 1e3, 100 * share, marker=".", label="policy")
    axes.axhline(100 * held[2], color="grey", linestyle="--", label="posture held")
    axes.set(xlabel="thousands of actions", ylabel="still up after 10 s (%)", ylim=(-2, 102))
    axes.legend()
    figure.savefig(file)


if __name__ == "__main__":
    main()
