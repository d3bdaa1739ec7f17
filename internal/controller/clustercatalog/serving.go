package clustercatalog

import (
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
)

// Serving says where the catalogs of this process are served over HTTP.
type Serving struct {
	// URL is where clients reach the server, without a slash at its end.
	URL string
	// Catalogs are those that are served, by the names of their objects.
	Catalogs *catalogserver.Set
}

// publish serves an index, which is from a certain time, under the name of its catalog from now on; nil is none. A nil Serving serves none.
func (s *Serving) publish(name string, index *catalog.Index, from time.Time) {
	switch {
	case s == nil:
	case index == nil:
		s.Catalogs.Withdraw(name)
	default:
		s.Catalogs.PublishAt(name, index, from)
	}
}
