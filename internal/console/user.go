package console

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops/preview"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"

	"github.com/blang/semver/v4"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// User is who uses the console: a connection to the cluster as that user.
type User struct {
	// Name is what the API server calls the user.
	Name string
	// Namespace is where they work unless they choose another one.
	Namespace string

	config *rest.Config
	// credential is what they prove who they are with; nil where config has it.
	credential *credential
	client     client.WithWatch
	cluster    preview.Cluster
	servers    *preview.Servers
	scope      scope
	tally      tally
	turns      turns
	changes    atomic.Int64 // of the cluster that its streams have seen

	listeners listeners
}

// How many requests a second are made for a user, and at once: the page of an operator takes about forty, for which the 20 of clients that work in the
// background would let it wait for seconds. The API server shares its time among users itself.
const (
	pageQPS   = 100
	pageBurst = 300
)

// NewUser connects to a cluster.
func NewUser(ctx context.Context, config *rest.Config, namespace string) (*User, error) {
	return newUser(ctx, config, namespace, newKinds())
}

// newUser is NewUser for one of many users of a cluster, who have its kinds in common.
func newUser(ctx context.Context, config *rest.Config, namespace string, k *kinds) (*User, error) {
	scheme, err := knownKinds()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = pageQPS, pageBurst
	connection, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, HTTPClient: connection, Mapper: k.as(config, connection)})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
	}
	c = byName{c}
	server, err := discovery.NewDiscoveryClientForConfigAndClient(config, connection)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
	}
	servers, err := preview.NewServers(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
	}
	u := &User{Namespace: namespace, config: config, client: c, cluster: preview.Cluster{Reader: c, Server: server}, servers: servers}
	u.Name, err = u.review(ctx)
	return u, err
}

// review asks the API server how it calls the user.
func (u *User) review(ctx context.Context) (string, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := u.client.Create(ctx, review); err != nil {
		return "", kubeconfig.Explain(fmt.Errorf("ask the API server who you are: %w", err))
	}
	return review.Status.UserInfo.Username, nil
}

// knownKinds are those that pages read, registered once for all users: there are more than a thousand.
var knownKinds = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme, err := kubeconfig.Scheme()
	if err == nil {
		err = packagesv1.AddToScheme(scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("register the API kinds: %w", err)
	}
	return scheme, nil
})

// Right is what a user may or may not do.
type Right struct {
	Allowed bool `json:"allowed"`
	// Missing is the right that is lacking, in words.
	Missing string `json:"missing,omitempty"`
}

// may asks whether the user may do something. Where that cannot be told, the API server decides when it is done.
func (u *User) may(ctx context.Context, verb, group, resource, namespace string) Right {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Namespace: namespace}}}
	if err := u.client.Create(ctx, review); err != nil || review.Status.Allowed {
		return Right{Allowed: true}
	}
	where := ""
	if namespace != "" {
		where = " in namespace " + namespace
	}
	return Right{Missing: fmt.Sprintf("%s may not %s %s%s", u.Name, verb, strings.TrimSuffix(resource+"."+group, "."), where)}
}

// dial connects to what is in the cluster, through the API server where that is the only way.
func (u *User) dial() func(ctx context.Context, address string) (net.Conn, error) {
	return kubeconfig.Dialer(u.config, u.client)
}

// namespaced is the question what a namespace has, and may have.
func (c *Console) namespaced(ctx context.Context, u *User, namespace string) (*preview.Question, error) {
	q, err := u.cluster.Question(ctx, namespace, c.GlobalNamespace)
	if err != nil {
		return nil, err
	}
	return u.reaching(q)
}

// extensions is the question what the ClusterExtensions have, and may have.
func (c *Console) extensions(ctx context.Context, u *User) (*preview.Question, error) {
	q, err := u.cluster.Extensions(ctx)
	if err != nil {
		return nil, err
	}
	return u.reaching(q)
}

// reaching adds to a question how the cluster is reached.
func (u *User) reaching(q *preview.Question) (_ *preview.Question, err error) {
	q.Dial = u.dial()
	if q.Kubernetes.Equals(semver.Version{}) {
		q.Kubernetes, err = u.cluster.Kubernetes()
	}
	return q, err
}

// planner plans as the user: nothing is written.
func (c *Console) planner(u *User) preview.Planner {
	return preview.Planner{Client: u.client, Library: c.Library, Fetch: c.Library.Fetch, Values: true}
}
