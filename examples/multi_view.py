"""Several views, one of them partial
==================================

Images of digits have two tables of features: their pixels, and the spectrum of their pixels. Three
of ten images have no spectrum. A third view is noise, and the diagnosis says so.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from partita import adjusted_rand, diagnose
from partita.multiview import MultiViewClustering
from partita.plotting import AgreementDisplay

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
rng = np.random.default_rng(0)
views = {
    "pixel": X,
    "spectrum": abs(np.fft.fft2(X.reshape(-1, 8, 8))).reshape(len(X), -1),
    "noise": rng.normal(size=(600, 20)),
}
has_spectrum = rng.random(600) > 0.3

model = MultiViewClustering(n_clusters=10, partitions_per_view=10, random_state=0)
labels = model.fit_predict(views, present={"spectrum": has_spectrum})
print(f"adjusted Rand index with the digits: {adjusted_rand(y, labels):.3f}\n")

print("view       samples   agreement   disagrees")
for record in diagnose(model.partitions_, labels).view_records():
    print(
        f"{record['view']:<10} {record['labeled']:7.0%} {record['adjusted_rand']:11.2f}   "
        f"{'yes' if record['disagrees'] else 'no'}"
    )

display = AgreementDisplay.from_labels(model.partitions_, labels).plot()
