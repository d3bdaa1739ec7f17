package command

import (
	"fmt"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/content/bundleio"
)

// Attach lets a renderer tell on the error stream what it passes over, and how far it is with images that take long. The function
// that is returned ends that, and the renderer.
func Attach(r *bundleio.Renderer, s Streams) (done func() error) {
	printer := Progress(s.Err)
	begin := time.Now()
	var mu sync.Mutex
	var last time.Time
	r.Warn = func(ref, text string) {
		printer.Clear()
		fmt.Fprintf(s.Err, "warning: %s: %s\n", ref, text)
	}
	r.Progress = func(ref string, read, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(begin) > time.Second && now.Sub(last) > 200*time.Millisecond {
			last = now
			printer.Doing("pulling %s: %d of %d kB", ref, read/1000, total/1000)
		}
	}
	return func() error {
		printer.Clear()
		return r.Close()
	}
}
