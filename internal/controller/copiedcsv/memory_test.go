package copiedcsv

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// BenchmarkMemory fills a cache with the copies of 5 operators in 10,000 namespaces, and with these namespaces, as the API server sends
// them, and prints the memory that is in use then:
//
//	go test ./internal/controller/copiedcsv -run '^$' -bench Memory -benchtime 1x
func BenchmarkMemory(b *testing.B) {
	const operators, namespaces = 5, 10_000
	for b.Loop() {
		before := heap()
		copies := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{
			toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc,
			indexBySource:             func(o any) ([]string, error) { return sourceKey(o.(client.Object)), nil },
		})
		spaces := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{})
		c := &Controller{}
		for i := range namespaces {
			name := fmt.Sprintf("tenant-%05d", i)
			space := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-5d2f4c1e-8a6b-4e3f"), ResourceVersion: fmt.Sprint(i), Labels: map[string]string{corev1.LabelMetadataName: name}}}
			must.NoError(b, spaces.Add(space))
			for j := range operators {
				add(b, c, copies, name, j)
			}
		}
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
		b.ReportMetric(float64(heap()-before)/1e3/(operators*namespaces), "kB/copy")
		runtime.KeepAlive([]any{copies, spaces, c})
	}
}

func add(b *testing.B, c *Controller, copies toolscache.Indexer, namespace string, i int) {
	b.Helper()
	name := fmt.Sprintf("operator-%d.v1.0.0", i)
	object := must.Value(trim(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(namespace + "-5d2f4c1e-8a6b-4e3f"), ResourceVersion: namespace, Generation: 1,
		Labels: map[string]string{"olm.copiedFrom": fmt.Sprintf("operator-%d", i)}, Annotations: map[string]string{"alm-examples": strings.Repeat("x", 10_000), markAnnotation: hash([]byte(name)) + "." + hash([]byte(namespace)) + ".1"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: fieldManager}, {Manager: fieldManager, Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{},"f:lastUpdateTime":{},"f:message":{},"f:phase":{},"f:reason":{}}}`)}},
	}}))(b)
	must.NoError(b, copies.Add(object))
	c.written.Store(types.NamespacedName{Namespace: namespace, Name: name}, namespace)
}

// heap is the memory in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
