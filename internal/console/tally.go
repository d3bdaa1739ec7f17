package console

import (
	"context"
	"strconv"
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
	if t.read == nil || len(t.read) >= maxTallies {
		t.read, t.many = map[string]time.Time{}, map[string]int{}
	}
	many := 0
	if all, err := ops.ListApprovals(ctx, u.client, namespace); err == nil {
		many = all.Waiting()
	}
	t.read[namespace], t.many[namespace] = time.Now(), many // also where it failed: pages do not wait for that each time
	return many
}

// saw notes that the cluster has changed: what was worked out before may be another one now.
func (u *User) saw() {
	u.changes.Add(1)
	u.decided()
}

// version is that of the cluster as far as the pages of the user have followed it.
func (u *User) version() string { return strconv.FormatInt(u.changes.Load(), 10) }

// decided forgets how many wait: one of them was decided on.
func (u *User) decided() {
	u.tally.mu.Lock()
	defer u.tally.mu.Unlock()
	u.tally.read = nil
}
