package plan

import "fmt"

// How many candidates the needs of one package's bundles may have together, and those of all packages. Whoever needs more has no answer;
// that harms only who asks for it. So content that nobody asked for, and that only might meet some need, keeps nobody from deciding.
const (
	maxPackageOffers = 500_000
	maxOffers        = 5_000_000
	looksAnOffer     = 16 // bundles that do not fit count as well, by the work that they are
)

// crowd counts candidates. Its zero value has none.
type crowd struct{ shares }

func (c *crowd) count(n *node, looked, found int) {
	c.add(n.packageName(), uint64(found+looked/looksAnOffer))
}

// of tells whether the needs of a bundle or an installed operator are not looked into any more.
func (c *crowd) of(n *node) dear {
	pkg := n.packageName()
	switch {
	case c.shares.of(pkg) > maxPackageOffers:
		return dear{fmt.Sprintf("the needs of package %s together have more than %d candidates", pkg, maxPackageOffers), pkg}
	case c.all > maxOffers:
		dearest := c.dearest()
		return dear{fmt.Sprintf("the needs of all packages together have more than %d candidates, most of all those of package %s", maxOffers, dearest), dearest}
	}
	return dear{}
}
