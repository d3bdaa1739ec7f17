package bundleio

import (
	"fmt"
	"sync/atomic"
	"time"
)

// slowAfter is when an attempt is called slow and how far it has come is told. It is told again each time that it has taken twice as
// long: people want to see that something happens, and a status that changes all the time is a burden to the cluster.
const slowAfter = 5 * time.Second

// progress is how many bytes of a bundle have been read.
type progress struct{ read, total atomic.Int64 }

func (p *progress) note(read, total int64) {
	p.read.Store(read)
	p.total.Store(total)
}

// String tells it, e.g. "1.5 of 20.0 MiB".
func (p *progress) String() string {
	const mib = 1 << 20
	read, total := p.read.Load(), p.total.Load()
	if total <= 0 {
		return "nothing has been read yet"
	}
	return fmt.Sprintf("%.1f of %.1f MiB", float64(read)/mib, float64(total)/mib)
}

// watch tells how far an attempt has come as long as it runs. A slow one makes room for others.
func (u *Unpacker) watch(j *job, p *progress, running <-chan struct{}, free func()) {
	for elapsed, wait := slowAfter, slowAfter; ; elapsed, wait = 2*elapsed, elapsed {
		select {
		case <-running:
			return
		case <-u.clock.After(wait):
		}
		u.mu.Lock()
		select {
		case <-running: // it has ended meanwhile, and its result stands
			u.mu.Unlock()
			return
		default:
		}
		j.state.Slow = fmt.Sprintf("%s after %s", p, elapsed)
		u.mu.Unlock()
		free() // whoever gets the room finds the attempt called slow
		u.notify()
	}
}
