package metrics

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// How long an answer of the API server may take, and how long it is used again.
const (
	reviewTime = 10 * time.Second
	allowedFor = time.Minute
	deniedFor  = 10 * time.Second
)

// askAPIServer lets only those through whose token the API server knows, and who may do there what they do here.
func askAPIServer(config *rest.Config, next http.Handler, log logr.Logger) (http.Handler, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("set up who may read metrics: %w", err)
	}
	who, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:                &apiserver.AnonymousAuthConfig{Enabled: false},
		TokenAccessReviewClient:  client.AuthenticationV1(),
		TokenAccessReviewTimeout: reviewTime,
		WebhookRetryBackoff:      options.DefaultAuthWebhookRetryBackoff(),
		CacheTTL:                 allowedFor,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("set up who may read metrics: %w", err)
	}
	may, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(),
		WebhookRetryBackoff:       options.DefaultAuthWebhookRetryBackoff(),
		AllowCacheTTL:             allowedFor,
		DenyCacheTTL:              deniedFor,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("set up who may read metrics: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, ok, err := who.AuthenticateRequest(r)
		if err != nil || !ok {
			if err != nil {
				log.V(1).Info("a reader of metrics is not let in", "why", err.Error())
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send a bearer token that the API server knows", http.StatusUnauthorized)
			return
		}
		desired := authorizer.AttributesRecord{User: found.User, Verb: strings.ToLower(r.Method), Path: r.URL.Path}
		decision, _, err := may.Authorize(r.Context(), desired)
		if err != nil {
			log.Error(err, "the API server cannot be asked who may read metrics", "user", found.User.GetName())
			http.Error(w, "the API server cannot be asked whether you may do that; the log of the manager says why", http.StatusInternalServerError)
			return
		}
		if decision != authorizer.DecisionAllow {
			http.Error(w, fmt.Sprintf("user %q may not %s %s: a ClusterRole has to allow the verb %[2]s on that path in nonResourceURLs",
				found.User.GetName(), desired.Verb, desired.Path), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	}), nil
}
