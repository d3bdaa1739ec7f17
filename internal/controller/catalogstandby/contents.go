package catalogstandby

import "fairlead.dev/fairlead/internal/content/catalogset"

// Contents are the catalogs that the controllers publish once this manager leads, and until they do those that were read before. Content that
// the controllers withhold has no substitute.
type Contents struct{ Leading, Standby *catalogset.Set }

// Get returns the entry of one catalog.
func (c Contents) Get(ref catalogset.Ref) (catalogset.Entry, bool) {
	leading, known := c.Leading.Get(ref)
	if leading.Index != nil || leading.Withheld {
		return leading, true
	}
	if standby, ok := c.Standby.Get(ref); ok && (standby.Index != nil || !known) {
		return standby, true
	}
	return leading, known
}
