from torchdata.nodes import Batcher, IterableWrapper, Loader, Mapper
from torchdata.stateful_dataloader import StatefulDataLoader

import torch
from torch.utils.data import Dataset, IterableDataset


class Numbers(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return torch.tensor(float(index))


class Stream(IterableDataset):
    def __init__(self):
        self.done = 0

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        while self.done < 7:
            self.done += 1
            yield self.done * 10 + (worker.id if worker else 0)

    def state_dict(self):
        return {"done": self.done}

    def load_state_dict(self, state):
        self.done = state["done"]


if __name__ == "__main__":
    for workers in (0, 2):
        torch.manual_seed(0)
        loader = StatefulDataLoader(Numbers(), batch_size=3, shuffle=True, num_workers=workers)
        iterator = iter(loader)
        print(next(iterator))
        state = loader.state_dict()
        print([batch.tolist() for batch in iterator])
        resumed = StatefulDataLoader(Numbers(), batch_size=3, shuffle=True, num_workers=workers)
        resumed.load_state_dict(state)
        print([batch.tolist() for batch in resumed], len(resumed))
        loader = StatefulDataLoader(Stream(), batch_size=2, num_workers=workers)
        print(next(iter(loader)))
        state = loader.state_dict()
        resumed = StatefulDataLoader(Stream(), batch_size=2, num_workers=workers)
        resumed.load_state_dict(state)
        print([batch.tolist() for batch in resumed])
    node = Batcher(Mapper(IterableWrapper(range(7)), lambda x: x * x), 3, drop_last=False)
    print(list(Loader(node)))
