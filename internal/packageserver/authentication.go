package packageserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/path"
	"k8s.io/apiserver/pkg/authorization/union"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
)

// The ConfigMap in which the API server tells aggregated servers whom to believe.
const (
	authenticationNamespace = "kube-system"
	authenticationName      = "extension-apiserver-authentication"
	clientsKey              = "client-ca-file"
	frontProxyKey           = "requestheader-client-ca-file"
)

// learnTime bounds the wait for what the ConfigMap says.
const learnTime = 10 * time.Second

// answersAreKept is how long an answer of the API server, whose token it is and what one may do, is used again.
const answersAreKept = 10 * time.Second

// delegation leaves it to the API server to say who a user is and what they may do.
type delegation struct {
	clients, frontProxy *dynamiccertificates.ConfigMapCAController
	headers             *headerrequest.RequestHeaderAuthRequestController
}

// delegate learns whom to believe, before anything is served, and follows changes of that until running ends. The server would begin
// without: the API server would be anyone to it, on connections that stay open for long.
func delegate(ctx, running context.Context, client kubernetes.Interface, config *genericapiserver.Config) error {
	d := &delegation{headers: headerrequest.NewRequestHeaderAuthRequestController(authenticationName, authenticationNamespace, client,
		"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers",
		"requestheader-extra-headers-prefix", "requestheader-allowed-names")}
	var err error
	if d.clients, err = authorities(client, "client-ca", clientsKey); err != nil {
		return err
	}
	if d.frontProxy, err = authorities(client, "front-proxy-ca", frontProxyKey); err != nil {
		return err
	}
	clients, frontProxy := follow(d.clients), follow(d.frontProxy)
	for _, run := range []func(context.Context, int){d.clients.Run, d.frontProxy.Run, d.headers.Run} {
		go run(running, 1)
	}
	if err := d.learn(ctx, client); err != nil {
		return fmt.Errorf("read ConfigMap %s of namespace %s, which says whom to believe: %w; "+
			"the manager needs the Role extension-apiserver-authentication-reader there", authenticationName, authenticationNamespace, err)
	}
	return errors.Join(d.authenticate(client, config), authorize(client, config),
		config.Authentication.ApplyClientCert(clients, config.SecureServing),
		config.Authentication.ApplyClientCert(frontProxy, config.SecureServing))
}

// learn waits until everything is known that there is to be known.
func (d *delegation) learn(ctx context.Context, client kubernetes.Interface) error {
	said, err := client.CoreV1().ConfigMaps(authenticationNamespace).Get(ctx, authenticationName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if said.Data[frontProxyKey] == "" {
		return fmt.Errorf("it has no %s: the API server must be started with --requestheader-client-ca-file", frontProxyKey)
	}
	if err := d.headers.RunOnce(ctx); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, learnTime, true, func(context.Context) (bool, error) {
		// A cluster may do without certificates of users.
		return d.frontProxy.CurrentCABundleContent() != nil && (said.Data[clientsKey] == "" || d.clients.CurrentCABundleContent() != nil), nil
	})
}

func authorities(client kubernetes.Interface, purpose, key string) (*dynamiccertificates.ConfigMapCAController, error) {
	c, err := dynamiccertificates.NewDynamicCAFromConfigMapController(purpose, authenticationNamespace, authenticationName, key, client)
	if err != nil {
		return nil, fmt.Errorf("read %s from ConfigMap %s of namespace %s: %w", key, authenticationName, authenticationNamespace, err)
	}
	return c, nil
}

// followed are authorities whose changes are followed already: the server must not do that again. Who wants to hear of changes is told from
// here, because what follows them takes no further listeners once it runs.
type followed struct {
	dynamiccertificates.CAContentProvider

	mu        sync.Mutex
	listeners []dynamiccertificates.Listener
}

// follow makes authorities that do not run yet such.
func follow(authorities dynamiccertificates.CAContentProvider) *followed {
	f := &followed{CAContentProvider: authorities}
	authorities.AddListener(f)
	return f
}

// AddListener adds one who wants to hear of changes.
func (f *followed) AddListener(l dynamiccertificates.Listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners = append(f.listeners, l)
}

// Enqueue tells everybody that there was a change.
func (f *followed) Enqueue() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.listeners {
		l.Enqueue()
	}
}

func (d *delegation) authenticate(client kubernetes.Interface, config *genericapiserver.Config) error {
	front := &authenticatorfactory.RequestHeaderConfig{
		CAContentProvider:   d.frontProxy,
		UsernameHeaders:     headerrequest.StringSliceProviderFunc(d.headers.UsernameHeaders),
		UIDHeaders:          headerrequest.StringSliceProviderFunc(d.headers.UIDHeaders),
		GroupHeaders:        headerrequest.StringSliceProviderFunc(d.headers.GroupHeaders),
		ExtraHeaderPrefixes: headerrequest.StringSliceProviderFunc(d.headers.ExtraHeaderPrefixes),
		AllowedClientNames:  headerrequest.StringSliceProviderFunc(d.headers.AllowedClientNames),
	}
	authenticator, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:                          &apiserver.AnonymousAuthConfig{Enabled: true}, // and allowed nothing but what the API server allows
		TokenAccessReviewClient:            client.AuthenticationV1(),
		TokenAccessReviewTimeout:           answersAreKept,
		WebhookRetryBackoff:                options.DefaultAuthWebhookRetryBackoff(),
		CacheTTL:                           answersAreKept,
		ClientCertificateCAContentProvider: d.clients,
		RequestHeaderConfig:                front,
	}.New()
	if err != nil {
		return fmt.Errorf("set up authentication: %w", err)
	}
	config.Authentication.Authenticator = authenticator
	config.Authentication.RequestHeaderConfig = front
	return nil
}

// authorize asks the API server, but for probes and for administrators, who may do everything there, too.
func authorize(client kubernetes.Interface, config *genericapiserver.Config) error {
	probes, err := path.NewAuthorizer([]string{"/healthz", "/readyz", "/livez"})
	if err != nil {
		return fmt.Errorf("set up authorization: %w", err)
	}
	delegated, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(),
		AllowCacheTTL:             answersAreKept,
		DenyCacheTTL:              answersAreKept,
		WebhookRetryBackoff:       options.DefaultAuthWebhookRetryBackoff(),
	}.New()
	if err != nil {
		return fmt.Errorf("set up authorization: %w", err)
	}
	config.Authorization.Authorizer = union.New(authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup), probes, delegated)
	return nil
}
