package console

import (
	"net/http"
	"slices"
	"sync"
	"weak"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// kinds are the resources of the kinds that users of a cluster have read. They are the same for all users, and to know them takes a third of a megabyte,
// so that they are kept once. A kind is looked up with the rights of the user who needs it first.
type kinds struct {
	mu    sync.Mutex
	known map[schema.GroupVersionKind]*meta.RESTMapping
}

func newKinds() *kinds { return &kinds{known: map[schema.GroupVersionKind]*meta.RESTMapping{}} }

// userKinds look up kinds as one user. Only one version of a kind is kept, which is what clients ask for; what else is asked is looked up each time.
type userKinds struct {
	meta.RESTMapper // for the questions that pages do not ask
	*kinds
	config     *rest.Config
	connection *http.Client
	found      weak.Pointer[discovered] // is there for the next kinds of a page, and gone after a while
}

// discovered is what the API server has said to one user of what it serves.
type discovered struct{ meta.RESTMapper }

// as looks up kinds for the user of a connection.
func (k *kinds) as(config *rest.Config, connection *http.Client) meta.RESTMapper {
	u := &userKinds{kinds: k, config: config, connection: connection}
	u.RESTMapper = meta.NewLazyRESTMapperLoader(u.own)
	return u
}

func (u *userKinds) own() (meta.RESTMapper, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if d := u.found.Value(); d != nil {
		return d, nil
	}
	mapper, err := apiutil.NewDynamicRESTMapper(u.config, u.connection) // which asks nothing yet
	if err != nil {
		return nil, err
	}
	d := &discovered{mapper}
	u.found = weak.Make(d)
	return d, nil
}

// RESTMapping tells the resource of a kind.
func (u *userKinds) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) == 1 {
		u.mu.Lock()
		m := u.known[kind.WithVersion(versions[0])]
		u.mu.Unlock()
		if m != nil {
			return m, nil
		}
	}
	own, err := u.own()
	if err != nil {
		return nil, err
	}
	m, err := own.RESTMapping(kind, versions...)
	if err == nil && slices.Equal(versions, []string{m.GroupVersionKind.Version}) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.known[m.GroupVersionKind] = m
	}
	return m, err
}
