package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"fairlead.dev/fairlead/test/must"
)

// accountServer is an API server that creates ConfigMaps for whoever has an accepted token, with a warning.
func accountServer(t *testing.T, accepted *atomic.Value) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != accepted.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`)
			return
		}
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":"a"}}`)
			return
		}
		w.Header().Add("Warning", `299 - "v1 ConfigMap is old"`)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(configMap("a", "1").Object)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, BearerToken: "the manager's own", Username: "", WarningHandlerWithContext: WarningHandler{}}
}

// tokenClient issues tokens for service accounts, which neither the fake client nor fakeapi does: they are no writes.
func tokenClient(t *testing.T, clock *clocktesting.FakePassiveClock, requests *int) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, clientgoscheme.AddToScheme(scheme))
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Version: "v1"}})
	mapper.Add(kinds["ConfigMap"], meta.RESTScopeNamespace)
	return fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceCreate: func(_ context.Context, _ client.Client, sub string, o, body client.Object, _ ...client.SubResourceCreateOption) error {
			request, ok := body.(*authenticationv1.TokenRequest)
			if _, account := o.(*corev1.ServiceAccount); !ok || !account || sub != "token" {
				return fmt.Errorf("unexpected request %s of %T", sub, o)
			}
			*requests++
			request.Status.Token = fmt.Sprintf("token-%d-of-%s-%s", *requests, o.GetNamespace(), o.GetName())
			request.Status.ExpirationTimestamp = metav1.NewTime(clock.Now().Add(time.Duration(*request.Spec.ExpirationSeconds) * time.Second))
			return nil
		},
	}).Build()
}

func TestAccounts(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	var requests int
	var accepted atomic.Value
	accepted.Store("Bearer token-1-of-ns-sa")
	accounts := NewAccounts(accountServer(t, &accepted), tokenClient(t, clock, &requests), clock)
	apply := func() *Result {
		c := must.Value(accounts.Client(t.Context(), "ns", "sa"))(t)
		return (&Engine{Client: c, FieldManager: manager}).Apply(t.Context(), []Phase{phase(configMap("a", "1"))})
	}
	for range 2 {
		r := apply()
		if r.Err() != nil || requests != 1 {
			t.Fatalf("%d token requests, %v", requests, r.Err())
		}
		must.Equal(t, "warnings", r.Phases[0].Objects[0].Warnings, []string{"v1 ConfigMap is old"})
	}
	clock.SetTime(clock.Now().Add(50 * time.Minute))
	accepted.Store("Bearer token-2-of-ns-sa")
	if r := apply(); r.Err() != nil || requests != 2 {
		t.Errorf("renewal: %d token requests, %v", requests, r.Err())
	}
	accepted.Store("Bearer token-3-of-ns-sa") // as after the account was made anew
	if r := apply(); r.Err() == nil {
		t.Error("the old token was accepted")
	}
	if r := apply(); r.Err() != nil || requests != 3 {
		t.Errorf("a refused token is used again: %d token requests, %v", requests, r.Err())
	}
}

// TestAccountsAreForgotten: neither accounts that no one asks for any more nor very many at once stay in memory.
func TestAccountsAreForgotten(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	var requests int
	accounts := NewAccounts(&rest.Config{Host: "http://127.0.0.1:1"}, tokenClient(t, clock, &requests), clock)
	ask := func(namespace string) {
		t.Helper()
		must.Value(accounts.Client(t.Context(), namespace, "sa"))(t)
	}
	for i := range maxAccounts + 10 {
		ask(fmt.Sprint("ns-", i))
		clock.SetTime(clock.Now().Add(time.Second))
	}
	must.Equal(t, "clients are kept", len(accounts.known), maxAccounts)
	requests = 0
	ask("ns-10")
	ask(fmt.Sprint("ns-", maxAccounts+9))
	must.Equal(t, "tokens were requested for the accounts that were asked for last", requests, 0)
	ask("ns-9")
	must.Equal(t, "tokens were requested for the account that had to go", requests, 1)
	clock.SetTime(clock.Now().Add(tokenLifetime))
	ask("late")
	must.Equal(t, "clients are kept after their tokens are due", len(accounts.known), 1)
}

func TestWarningsOfOthersGoOn(t *testing.T) {
	next, warned := recorded(nil), &warnings{}
	h := WarningHandler{Next: &next}
	h.HandleWarningHeaderWithContext(t.Context(), 299, "-", "not ours")
	ctx := context.WithValue(t.Context(), warningsKey{}, warned)
	for _, text := range []string{"once", "once", ""} {
		h.HandleWarningHeaderWithContext(ctx, 299, "-", text)
	}
	h.HandleWarningHeaderWithContext(ctx, 199, "-", "of a proxy")
	must.Equal(t, "texts", warned.all, []string{"once"})
	must.Equal(t, "next", next, recorded{"not ours"})
}

type recorded []string

func (r *recorded) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	*r = append(*r, text)
}
