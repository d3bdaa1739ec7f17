package catalogstandby

import (
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
)

// Contents are the catalogs that the controllers publish once this manager leads, and until they do those that were read before. Content that
// the controllers withhold has no substitute.
type Contents struct{ Leading, Standby *catalogstore.Set }

// Get returns the entry of one catalog.
func (c Contents) Get(ref catalog.Ref) (catalogstore.Entry, bool) {
	leading, known := c.Leading.Get(ref)
	if leading.Index != nil || leading.Withheld {
		return leading, true
	}
	if standby, ok := c.Standby.Get(ref); ok && (standby.Index != nil || !known) {
		return standby, true
	}
	return leading, known
}
