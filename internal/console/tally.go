package console

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/ops"
)

// tally is how many changes wait for a person, which every page says: kept for a while.
type tally struct {
	mu   sync.Mutex
	read map[string]time.Time // by namespace
	many map[string]int
}

// tallyFresh is for how long it is kept; tallyTime is how long it may take, since no page is to wait for it.
const (
	tallyFresh = 10 * time.Second
	tallyTime  = time.Second
	maxTallies = 32
)

// waiting is how many wait in a namespace, or in all. What cannot be told is none: the page of approvals says why.
func (u *User) waiting(ctx context.Context, namespace string) int {
	t := &u.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	if since, known := t.read[namespace]; known && time.Since(since) < tallyFresh {
		return t.many[namespace]
	}
	ctx, cancel := context.WithTimeout(ctx, tallyTime)
	defer cancel()
	all, err := ops.ListApprovals(ctx, u.client, namespace)
	if err != nil {
		return 0
	}
	if t.read == nil || len(t.read) >= maxTallies {
		t.read, t.many = map[string]time.Time{}, map[string]int{}
	}
	t.read[namespace], t.many[namespace] = time.Now(), all.Waiting()
	return all.Waiting()
}

// decided forgets how many wait: one of them was decided on.
func (u *User) decided() {
	u.tally.mu.Lock()
	defer u.tally.mu.Unlock()
	u.tally.read = nil
}
