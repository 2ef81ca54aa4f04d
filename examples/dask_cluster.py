"""A Dask cluster
==============

Generate partitions and fuse them on a Dask cluster, here two processes on this machine.

To use another cluster, replace `LocalCluster` by the address of its scheduler. Its workers must be
able to read the folder of the store.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster
from sklearn.datasets import make_blobs

from partita import SEC, adjusted_rand, segment


def main() -> None:
    X, y = make_blobs(4000, 6, centers=5, cluster_std=2.0, random_state=0)
    with (
        TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=folder
        ) as cluster,
        Client(cluster) as client,
    ):
        features = Path(folder, "features.npy")
        np.save(features, X)

        # Each partition clusters half of the rows. The workers write them into one store.
        store = segment(
            features,
            Path(folder, "labels.store"),
            n_partitions=20,
            ratio=0.5,
            n_clusters=(5, 10),
            client=client,
            random_state=0,
        )
        print(store)

        # The workers read the store block by block.
        method = SEC(n_clusters=5, n_init=3, random_state=0)
        labels = method.fit_predict(store, client=client)
        print(f"adjusted Rand index with the true classes: {adjusted_rand(y, labels):.2f}")

        # The same labels as a Dask array give the same result.
        partitions = store.read(0, len(store)).astype(float)
        partitions[partitions == store.missing_code] = np.nan
        array_labels = method.fit_predict(da.from_array(partitions, chunks=(1000, -1)))
        print("equal labels from a Dask array:", bool((array_labels == labels).all()))


if __name__ == "__main__":
    main()
