package console

import (
	"context"

	"fairlead.dev/fairlead/internal/ops/preview"

	"k8s.io/utils/clock"
)

// shelf has what catalogs offer users.
//
// Catalogs and bundles are read with Options.Library and nothing else, and what they are read with is as much the user's as the connection to the
// cluster is: pull secrets are read from the cluster with the rights of the user (bundleio.Origin, as Question and Planner do); registries that need no
// secret of the cluster are asked with what the Library was opened with. That is the auth file of the user for a console on their machine. A console that
// many users share has to be given a Library without any: neither the manager's credentials nor its rights are lent.
type shelf struct {
	library *preview.Library
	changed func(*User) // tells the pages of a user
	kept    *readings[shelfKey, preview.Answer]
}

type shelfKey struct {
	user      *User
	namespace string
}

// maxOffers is how many are kept.
const maxOffers = 64

func newShelf(library *preview.Library, c clock.PassiveClock, changed func(*User)) *shelf {
	return &shelf{library: library, changed: changed, kept: newReadings[shelfKey, preview.Answer](c, maxOffers)}
}

// offers are the packages that a user sees in a namespace. Reading is true while they are read for the first time and that takes longer than a page
// waits; whole waits for them all the same.
func (s *shelf) offers(ctx context.Context, u *User, namespace string, whole bool) (answer preview.Answer, reading bool, err error) {
	return s.kept.get(ctx, shelfKey{u, namespace}, whole, func() { s.changed(u) }, func(ctx context.Context) (preview.Answer, error) {
		return s.browse(u, namespace).Both(ctx, "")
	})
}

// browse reads catalogs as a user.
func (s *shelf) browse(u *User, namespace string) preview.BrowseCluster {
	return preview.BrowseCluster{Reader: u.client, Servers: u.servers, Library: s.library, Namespace: namespace, Dial: u.dial()}
}
