package catalog

// EachPosition calls do with the place of every object and of every load
// problem, which it may change.
func (c *Catalog) EachPosition(do func(*Position)) {
	for i := range c.Packages {
		do(&c.Packages[i].Position)
	}
	for i := range c.Channels {
		do(&c.Channels[i].Position)
	}
	for i := range c.Bundles {
		do(&c.Bundles[i].Position)
	}
	for i := range c.Deprecations {
		do(&c.Deprecations[i].Position)
	}
	for i := range c.Others {
		do(&c.Others[i].Position)
	}
	for i := range c.LoadProblems {
		do(&c.LoadProblems[i].Position)
	}
}
