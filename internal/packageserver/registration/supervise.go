package registration

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A process that is killed leaves its endpoint behind, and every request that is led there fails. So those that are left ask each other every
// few seconds, and remove the endpoint of who does not answer twice. Nothing is asked where there is nobody else, and nothing is written
// while everybody answers.
const (
	askEvery = 2 * time.Second
	strikes  = 2
	// maxStrikes bounds how much longer one is waited for that put its endpoint back and still does not answer: it serves, maybe, and only
	// this process cannot reach it.
	maxStrikes = 1024
)

// supervision is what one process knows of the others, by the names of their endpoints.
type supervision struct {
	failed  map[string]int // in a row
	allowed map[string]int
}

// supervise looks after the endpoints of others until the context ends.
func (r *Registration) supervise(ctx context.Context, seen client.Reader) {
	s := supervision{failed: map[string]int{}, allowed: map[string]int{}}
	ticker := r.options.Clock.NewTicker(askEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		if err := r.askOthers(ctx, seen, &s); err != nil && ctx.Err() == nil {
			r.log.Error(err, "endpoints of processes that do not serve any more may stay; it is tried again")
		}
	}
}

// askOthers asks every other process once.
func (r *Registration) askOthers(ctx context.Context, seen client.Reader, s *supervision) error {
	_, err := r.removeSilent(ctx, seen, s.givenUp)
	return err
}

// givenUp counts an answer, or that there was none.
func (s *supervision) givenUp(name string, answered bool) bool {
	if answered {
		delete(s.failed, name)
		delete(s.allowed, name)
		return false
	}
	s.failed[name]++
	allowed := max(s.allowed[name], strikes)
	if s.failed[name] < allowed {
		return false
	}
	s.failed[name], s.allowed[name] = 0, min(4*allowed, maxStrikes)
	return true
}
