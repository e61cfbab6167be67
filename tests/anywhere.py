"""Lines of answers that may stand in any program: finding one tells nothing."""

ANYWHERE = {
    "with torch.no_grad():",
    "for _ in range(steps):",
    "for block in self.blocks:",
    "logits = model(tokens)[0]",
    "starts = torch.randint(",
}
