"""Retrieve: ranked evidence beside its scores, and where lost evidence went."""

from app.ui import shell, state
from app.ui.retrieve import inspected, keeping, picking, running

shell.enter("Retrieve")
with state.guarded():
    wanted = picking.pick(state.pick_collection)
    state.show_failures()
    keeping.told()
    changed = wanted.changes.any or wanted.view.filtered
    running.draw(wanted.view.loaded, wanted.configurations[0][0], changed=changed)
    inspected.draw(wanted)
