package packageserver

import (
	"context"
	"errors"
	"fmt"
	"time"

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
)

// answersAreKept is how long an answer of the API server, whose token it is and what one may do, is used again.
const answersAreKept = 10 * time.Second

// delegation leaves it to the API server to say who somebody is and what they may do.
type delegation struct {
	clients, frontProxy *dynamiccertificates.ConfigMapCAController
	headers             *headerrequest.RequestHeaderAuthRequestController
}

// delegate reads whom to believe, once before anything is served and again whenever it changes.
func delegate(ctx context.Context, client kubernetes.Interface, config *genericapiserver.Config) (*delegation, error) {
	d := &delegation{headers: headerrequest.NewRequestHeaderAuthRequestController(authenticationName, authenticationNamespace, client,
		"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers",
		"requestheader-extra-headers-prefix", "requestheader-allowed-names")}
	var err error
	if d.clients, err = authorities(client, "client-ca", "client-ca-file"); err != nil {
		return nil, err
	}
	if d.frontProxy, err = authorities(client, "front-proxy-ca", "requestheader-client-ca-file"); err != nil {
		return nil, err
	}
	// A cluster may do without certificates of users, but its API server always has one to show to aggregated servers.
	_ = d.clients.RunOnce(ctx)
	if err := errors.Join(d.frontProxy.RunOnce(ctx), d.headers.RunOnce(ctx)); err != nil {
		return nil, fmt.Errorf("read ConfigMap %s of namespace %s, which says whom to believe: %w; "+
			"the manager needs the Role extension-apiserver-authentication-reader there", authenticationName, authenticationNamespace, err)
	}
	return d, errors.Join(d.authenticate(client, config), authorize(client, config))
}

func authorities(client kubernetes.Interface, purpose, key string) (*dynamiccertificates.ConfigMapCAController, error) {
	c, err := dynamiccertificates.NewDynamicCAFromConfigMapController(purpose, authenticationNamespace, authenticationName, key, client)
	if err != nil {
		return nil, fmt.Errorf("read %s from ConfigMap %s of namespace %s: %w", key, authenticationName, authenticationNamespace, err)
	}
	return c, nil
}

// run follows changes until the context ends. The server itself follows those of the authorities that its listener believes.
func (d *delegation) run(ctx context.Context) { go d.headers.Run(ctx, 1) }

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
	return errors.Join(
		config.Authentication.ApplyClientCert(d.clients, config.SecureServing),
		config.Authentication.ApplyClientCert(d.frontProxy, config.SecureServing),
	)
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
