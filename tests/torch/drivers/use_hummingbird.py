import numpy as np
from hummingbird.ml import convert
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

g = np.random.RandomState(0)
x = g.rand(50, 5).astype(np.float32)
y = g.randint(0, 2, 50)
for s in (RandomForestClassifier(5, max_depth=3, random_state=0), LogisticRegression()):
    s.fit(x, y)
    m = convert(s, "torch")
    print((m.predict(x) == s.predict(x)).mean(), np.round(m.predict_proba(x)[:3, 1], 4))
m = convert(RandomForestClassifier(3, max_depth=2, random_state=0).fit(x, y), "torch.jit", x)
print(m.predict(x)[:10])
