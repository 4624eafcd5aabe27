"""What anybody writes with torch alone: nn.Transformer, or nn.LSTM with attention, in a plain loop."""

from typing import Any

from contract import EMBEDDING, LONGEST, MARKS, TRANSFORMER_NAMES, VOCABULARY, Batch, Shape, Step, padded

TITLE = "plain torch"
ENVIRONMENT = "regard"  # which has torch
TRAINS = (*TRANSFORMER_NAMES, "general")
LACKS = "a loop over steps is no longer plain"
DECODERS = ()
PAD, BEGIN, END = 0, 1, 2

assert max(PAD, BEGIN, END) < MARKS


def start() -> None:
    import torch  # noqa: F401


def trainer(shape: Shape) -> Step:
    import torch
    from torch import nn

    torch.manual_seed(1)
    model = _recurrent(shape) if shape.recurrent else _transformer(shape)
    optimizer = torch.optim.Adam(model.parameters(), lr=shape.learning_rate, betas=shape.betas)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=shape.smoothing)
    model.train()

    def step(batch: Batch) -> float:
        source = torch.tensor(padded(batch.sources, PAD, last=END))
        target = torch.tensor(padded(batch.targets, PAD, first=BEGIN, last=END))
        optimizer.zero_grad()
        logits = model(source, target[:, :-1])
        loss = criterion(logits.flatten(0, 1), target[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), shape.clip)
        optimizer.step()
        return loss.item()

    return step


def _transformer(shape: Shape) -> Any:
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(VOCABULARY, shape.width, padding_idx=PAD)
            nn.init.normal_(self.table.weight, std=shape.width**-0.5)
            places = torch.arange(LONGEST)[:, None] * 10_000 ** -(
                torch.arange(0, shape.width, 2) / shape.width
            )
            self.register_buffer("places", torch.cat([places.sin(), places.cos()], dim=1))
            self.dropout = nn.Dropout(shape.dropout)
            self.body = nn.Transformer(
                shape.width,
                shape.heads,
                shape.layers,
                shape.layers,
                shape.inner,
                shape.dropout,
                batch_first=True,
                norm_first=True,
            )
            for layer in (*self.body.encoder.layers, *self.body.decoder.layers):
                layer.dropout.p = layer.self_attn.dropout = 0.0  # inside the parts nothing is dropped
            for layer in self.body.decoder.layers:
                layer.multihead_attn.dropout = 0.0
            self.output = nn.Linear(shape.width, VOCABULARY)
            self.output.weight = self.table.weight

        def embed(self, ids: torch.Tensor) -> torch.Tensor:
            return self.dropout(self.table(ids) * shape.width**0.5 + self.places[: ids.shape[1]])

        def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1], dtype=torch.bool)
            out = self.body(
                self.embed(source),
                self.embed(target),
                tgt_mask=causal,
                src_key_padding_mask=source == PAD,
                tgt_key_padding_mask=target == PAD,
                memory_key_padding_mask=source == PAD,
                tgt_is_causal=True,
            )
            return self.output(out)

    return Model()


def _recurrent(shape: Shape) -> Any:
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            width = shape.width
            self.source = nn.Embedding(VOCABULARY, EMBEDDING, padding_idx=PAD)
            self.target = nn.Embedding(VOCABULARY, EMBEDDING, padding_idx=PAD)
            sizes = {"num_layers": shape.layers, "dropout": shape.dropout, "batch_first": True}
            self.encoder = nn.LSTM(EMBEDDING, width // 2, bidirectional=True, **sizes)
            self.decoder = nn.LSTM(EMBEDDING, width, **sizes)
            self.general = nn.Linear(width, width, bias=False)
            self.combine = nn.Linear(2 * width, width, bias=False)
            self.output = nn.Linear(width, VOCABULARY)
            self.dropout = nn.Dropout(shape.dropout)

        def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            lengths = (source != PAD).sum(1)
            packed = nn.utils.rnn.pack_padded_sequence(
                self.dropout(self.source(source)), lengths, batch_first=True, enforce_sorted=False
            )
            out, (hidden, cell) = self.encoder(packed)
            memory = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)[0]
            first = tuple(
                part.view(shape.layers, 2, len(source), -1).transpose(1, 2).flatten(2).contiguous()
                for part in (hidden, cell)
            )
            states = self.decoder(self.dropout(self.target(target)), first)[0]
            scores = states @ self.general(memory).transpose(1, 2)
            scores = scores.masked_fill((source == PAD)[:, None], -torch.inf)
            context = scores.softmax(-1) @ memory
            features = torch.tanh(self.combine(torch.cat([context, states], dim=-1)))
            return self.output(self.dropout(features))

    return Model()
