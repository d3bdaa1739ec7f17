package grpccatalog

import (
	"context"
	"fmt"
)

// What the catalogs of servers that a process reads may take of it together.
const (
	maxReading = 4         // catalogs that are read as a whole
	maxHeavy   = 2         // messages that are decoded and used, of those that cost much
	heavy      = 256 << 10 // from which cost on a message is one of those
	smallKept  = 16 << 20  // what a catalog keeps in memory before it waits until no other one keeps more
)

// Turns bound what reading catalogs takes of a process. Clients share them, those of a manager that leads and of one that waits to alike. A
// turn of messages is only held while there is something to do, and never while a server is waited for: one that is slow keeps none from others.
type Turns struct{ reading, heavy, large turn }

// NewTurns are the turns of a process.
func NewTurns() *Turns {
	return &Turns{make(turn, maxReading), make(turn, maxHeavy), make(turn, 1)}
}

// turn has room for some at once.
type turn chan struct{}

func (t turn) begin(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait until less is being read of other catalogs: %w", context.Cause(ctx))
	}
}

func (t turn) end() { <-t }
