package reconcile

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"fairlead.dev/fairlead/test/must"
)

// fakeManager is a manager that keeps what it is to start, unless it refuses.
type fakeManager struct {
	manager.Manager
	config  *rest.Config
	scheme  *runtime.Scheme
	mapper  *meta.DefaultRESTMapper
	refuses error
	starts  []manager.Runnable
}

func (o *fakeManager) GetConfig() *rest.Config        { return o.config }
func (o *fakeManager) GetHTTPClient() *http.Client    { return http.DefaultClient }
func (o *fakeManager) GetScheme() *runtime.Scheme     { return o.scheme }
func (o *fakeManager) GetRESTMapper() meta.RESTMapper { return o.mapper }
func (o *fakeManager) Add(r manager.Runnable) error   { o.starts = append(o.starts, r); return o.refuses }

// TestAdd: the manager starts the cache as one, which is before its controllers.
func TestAddCache(t *testing.T) {
	scheme := runtime.NewScheme()
	must.NoError(t, corev1.AddToScheme(scheme))
	o := &fakeManager{config: &rest.Config{Host: "127.0.0.1:1"}, scheme: scheme, mapper: meta.NewDefaultRESTMapper(nil)}
	o.mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	own, err := AddCache(o, "Secrets", cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {}}})
	if err != nil || len(o.starts) != 1 {
		t.Fatalf("%v; started are %v", err, o.starts)
	}
	as, ok := o.starts[0].(interface{ GetCache() cache.Cache })
	if !ok || as.GetCache() != own {
		t.Errorf("the manager does not know %T for a cache, or for this one", o.starts[0])
	}
	o.refuses = errors.New("it has stopped")
	if _, err := AddCache(o, "Secrets", cache.Options{}); !errors.Is(err, o.refuses) {
		t.Errorf("with a manager that takes none: %v", err)
	}
	o.scheme = runtime.NewScheme()
	_, err = AddCache(o, "Secrets", cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {}}})
	if err == nil || !strings.Contains(err.Error(), "make a cache of Secrets: ") {
		t.Errorf("of a kind that the manager does not know: %v", err)
	}
}
