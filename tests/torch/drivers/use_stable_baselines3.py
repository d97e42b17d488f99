import gymnasium
import numpy
from stable_baselines3 import PPO


class Line(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return numpy.zeros(2, numpy.float32), {}

    def step(self, action):
        self.steps += 1
        state = numpy.array([self.steps / 10, float(action)], numpy.float32)
        return state, float(action), self.steps >= 10, False, {}


model = PPO("MlpPolicy", Line(), n_steps=32, batch_size=16, n_epochs=2, seed=0, device="cpu").learn(64)
print(sum(p.detach().norm() for p in model.policy.parameters()))
