package bench

import (
	"fmt"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/test/must"
)

// simulated is an API server of three tenants, each of which has a ServiceAccount, beside two of others.
func simulated(t *testing.T, streams bool) (*apiServer, *rest.Config) {
	t.Helper()
	list := `{"items":[
		{"metadata":{"namespace":"tenant-00000","name":"default","uid":"0a0a0a0a-1","resourceVersion":"7","labels":{"of":"tenant-00000"}}},
		{"metadata":{"namespace":"olm","name":"operator","uid":"0b0b0b0b-2","resourceVersion":"5","labels":{"runs":"yes"}}},
		{"metadata":{"namespace":"zoo","name":"keeper","uid":"0c0c0c0c-3","resourceVersion":"6"}}]}`
	accounts := collect(t, metav1.APIResource{Kind: "ServiceAccount", Namespaced: true}, "v1", []byte(list), tenantName(0))
	s := &apiServer{snapshot: &snapshot{collection: map[string]*collection{"/api/v1/serviceaccounts": accounts}}, tenants: 3, streams: streams, writes: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	// What is JSON can be read by who would rather have protobuf.
	return s, &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json", ContentType: "application/json"}}
}

var allAccounts = []string{"olm/operator 0b0b0b0b-2 5", "tenant-00000/default 00000000-1 1000000", "tenant-00001/default 00000001-1 1000001",
	"tenant-00002/default 00000002-1 1000002", "zoo/keeper 0c0c0c0c-3 6"}

func told(o metav1.Object) string {
	return fmt.Sprintf("%s/%s %s %s", o.GetNamespace(), o.GetName(), o.GetUID(), o.GetResourceVersion())
}

func TestTheSimulatedAPIServerLists(t *testing.T) {
	_, config := simulated(t, false)
	accounts := kubernetes.NewForConfigOrDie(config).CoreV1().ServiceAccounts
	for _, test := range []struct {
		name, namespace string
		options         metav1.ListOptions
		want            []string
	}{
		{"all", "", metav1.ListOptions{}, allAccounts},
		{"pages", "", metav1.ListOptions{Limit: 2}, allAccounts},
		{"any version", "", metav1.ListOptions{Limit: 2, ResourceVersion: "0"}, allAccounts},
		{"a tenant", "tenant-00002", metav1.ListOptions{}, allAccounts[3:4]},
		{"no tenant", "tenant-00003", metav1.ListOptions{}, nil},
		{"another namespace", "olm", metav1.ListOptions{}, allAccounts[:1]},
		{"labels", "", metav1.ListOptions{LabelSelector: "runs"}, allAccounts[:1]},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for options := test.options; ; {
				list := must.Value(accounts(test.namespace).List(t.Context(), options))(t)
				for i := range list.Items {
					got = append(got, told(&list.Items[i]))
				}
				if options.Continue = list.Continue; options.Continue == "" {
					break
				}
			}
			must.Equal(t, "result", got, test.want)
		})
	}
}

func TestTheSimulatedAPIServerStreams(t *testing.T) {
	yes := true
	options := metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true}
	resource := corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	_, config := simulated(t, true)
	w := must.Value(metadata.NewForConfigOrDie(config).Resource(resource).Watch(t.Context(), options))(t)
	defer w.Stop()
	var got []string
	for e := range w.ResultChan() {
		o, ok := e.Object.(*metav1.PartialObjectMetadata)
		if !ok {
			t.Fatalf("it sends %#v", e)
		}
		if e.Type == watch.Bookmark && o.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
			break
		}
		got = append(got, told(o))
	}
	must.Equal(t, "result", got, allAccounts)
	_, old := simulated(t, false)
	if _, err := metadata.NewForConfigOrDie(old).Resource(resource).Watch(t.Context(), options); !apierrors.IsInvalid(err) {
		t.Errorf("want what servers say that do not stream, got %v", err)
	}
}

func TestTheSimulatedAPIServerGetsAndCountsWrites(t *testing.T) {
	s, config := simulated(t, true)
	accounts := kubernetes.NewForConfigOrDie(config).CoreV1().ServiceAccounts
	one, err := accounts("tenant-00001").Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil || told(one) != allAccounts[2] || one.Labels["of"] != "tenant-00001" {
		t.Errorf("it answers with %v, %v", one, err)
	}
	if _, err := accounts("tenant-00003").Get(t.Context(), "default", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("there is no such tenant, and yet: %v", err)
	}
	if got := s.written(); got != nil {
		t.Errorf("nothing was written, and yet: %v", got)
	}
	for range 2 {
		must.Value(accounts("olm").Patch(t.Context(), "operator", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}))(t)
	}
	must.Equal(t, "written", s.written(), []string{"2 x PATCH /api/v1/namespaces/olm/serviceaccounts/operator"})
}
