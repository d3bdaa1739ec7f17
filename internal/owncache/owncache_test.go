package owncache

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
)

// owner is a manager that keeps what it is to start, unless it refuses.
type owner struct {
	manager.Manager
	config  *rest.Config
	scheme  *runtime.Scheme
	mapper  *meta.DefaultRESTMapper
	refuses error
	starts  []manager.Runnable
}

func (o *owner) GetConfig() *rest.Config        { return o.config }
func (o *owner) GetHTTPClient() *http.Client    { return http.DefaultClient }
func (o *owner) GetScheme() *runtime.Scheme     { return o.scheme }
func (o *owner) GetRESTMapper() meta.RESTMapper { return o.mapper }
func (o *owner) Add(r manager.Runnable) error   { o.starts = append(o.starts, r); return o.refuses }

// TestAdd: the manager starts the cache as one, which is before its controllers.
func TestAdd(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	o := &owner{config: &rest.Config{Host: "127.0.0.1:1"}, scheme: scheme, mapper: meta.NewDefaultRESTMapper(nil)}
	o.mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	own, err := Add(o, "Secrets", cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {}}})
	if err != nil || len(o.starts) != 1 {
		t.Fatalf("%v; started are %v", err, o.starts)
	}
	as, ok := o.starts[0].(interface{ GetCache() cache.Cache })
	if !ok || as.GetCache() != own {
		t.Errorf("the manager does not know %T for a cache, or for this one", o.starts[0])
	}
	o.refuses = errors.New("it has stopped")
	if _, err := Add(o, "Secrets", cache.Options{}); !errors.Is(err, o.refuses) {
		t.Errorf("with a manager that takes none: %v", err)
	}
	o.scheme = runtime.NewScheme()
	_, err = Add(o, "Secrets", cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {}}})
	if err == nil || !strings.Contains(err.Error(), "make a cache of Secrets: ") {
		t.Errorf("of a kind that the manager does not know: %v", err)
	}
}
