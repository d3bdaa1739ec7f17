package console

import (
	"context"

	"fairlead.dev/fairlead/internal/ops"
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
	browse  func(ctx context.Context, u *User, namespace string) (preview.Answer, error)
	pool    preview.Pool
	// served is another text when catalogs serve something else: what was read before is not what there is then.
	served func(ctx context.Context, u *User, namespace string) string
	kept   *readings[shelfKey, preview.Answer]
}

type shelfKey struct {
	user      *User
	namespace string
}

// maxOffers is how many are kept.
const maxOffers = 64

// newShelf is empty. The catalogs of the global namespace are seen in all others.
func newShelf(library *preview.Library, global string, c clock.PassiveClock) *shelf {
	s := &shelf{library: library, kept: newReadings[shelfKey, preview.Answer](c, maxOffers)}
	s.served = func(ctx context.Context, u *User, namespace string) string {
		return ops.ServedCatalogs(ctx, u.client, namespace, global)
	}
	s.browse = func(ctx context.Context, u *User, namespace string) (preview.Answer, error) {
		answer, err := s.catalogs(u, namespace).Both(ctx, "")
		if err == nil {
			err = s.pool.Share(&answer) // a large catalog takes megabytes, and many users see the same one
		}
		return answer, err
	}
	return s
}

// offers are the packages that a user sees in a namespace. Reading is true while they are read for the first time and that takes longer than a page
// waits; whole waits for them all the same.
func (s *shelf) offers(ctx context.Context, u *User, namespace string, whole bool) (answer preview.Answer, reading bool, err error) {
	return s.kept.of(ctx, shelfKey{u, namespace}, s.served(ctx, u, namespace), whole, u, func(ctx context.Context) (preview.Answer, error) { return s.browse(ctx, u, namespace) })
}

// catalogs reads catalogs as a user.
func (s *shelf) catalogs(u *User, namespace string) preview.BrowseCluster {
	return preview.BrowseCluster{Reader: u.client, Servers: u.servers, Library: s.library, Namespace: namespace, Dial: u.dial()}
}

// warm begins to read what the user sees, who has just come: the catalog is there soon.
func (s *shelf) warm(ctx context.Context, u *User) {
	go func() { // a page that asks joins the reading, and says why it failed
		_, _, _ = s.offers(context.WithoutCancel(ctx), u, u.Namespace, false)
	}()
}
