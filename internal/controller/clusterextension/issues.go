package clusterextension

import (
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A certificate that cannot be used is made anew at once, and leads to another revision. Where somebody goes on damaging it, that is a fight.
const (
	issuesAtMost = 5
	issuesWithin = 10 * time.Minute
)

// issues are the times at which certificates had to be made, by their Secrets.
type issues struct {
	mu sync.Mutex
	at map[client.ObjectKey][]time.Time
}

// allows tells whether a certificate may be made now, and notes that it is.
func (i *issues) allows(secret client.ObjectKey, now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.at == nil {
		i.at = map[client.ObjectKey][]time.Time{}
	}
	for key, times := range i.at {
		if times = slices.DeleteFunc(times, func(t time.Time) bool { return now.Sub(t) >= issuesWithin }); len(times) == 0 {
			delete(i.at, key)
		} else {
			i.at[key] = times
		}
	}
	if len(i.at[secret]) > issuesAtMost {
		return false
	}
	i.at[secret] = append(i.at[secret], now)
	return true
}
