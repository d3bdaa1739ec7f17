package copiedcsv

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

const ns = "operators"

var testScheme = fakeapi.Scheme(corev1.AddToScheme, v1.AddToScheme, v1alpha1.AddToScheme)

// cluster is a cluster with the controllers in it: the fake client holds everything but copies, which are in the server.
type cluster struct {
	t        testing.TB
	client   client.Client   // of others
	api      *fakeapi.Server // of the manager
	server   *server
	c        *Controller
	reporter *reporter
	clock    *clocktesting.FakeClock
}

func newCluster(t testing.TB, objects ...client.Object) *cluster {
	t.Helper()
	builder := fake.NewClientBuilder().WithScheme(testScheme).WithObjects(objects...).WithStatusSubresource(&v1.OLMConfig{})
	for _, i := range indexes() {
		builder.WithIndex(i.object, i.name, i.values)
	}
	api := fakeapi.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), builder)
	k := &cluster{t: t, client: api.Inner, api: api, clock: api.Clock, server: &server{objects: map[types.NamespacedName]*v1alpha1.ClusterServiceVersion{}}}
	k.restart()
	return k
}

// restart forgets all that the controllers have in memory.
func (k *cluster) restart() {
	k.c = &Controller{client: k.api, copies: k.server, writer: k.server, clock: k.clock}
	k.reporter = &reporter{c: k.c, clock: k.clock}
}

// settle reconciles every copy that anything may concern.
func (k *cluster) settle() {
	k.t.Helper()
	for range 2 {
		keys := k.server.keys()
		for _, r := range k.c.copiesOfEach(k.t.Context(), nil) {
			keys = append(keys, r.NamespacedName)
		}
		for _, key := range keys {
			k.pass(key.Namespace, key.Name)
		}
	}
}

func (k *cluster) pass(namespace, name string) {
	k.t.Helper()
	must.NoErrorf(k.t, k.try(namespace, name), "reconcile %s/%s", namespace, name)
}

func (k *cluster) try(namespace, name string) error {
	_, err := k.c.Reconcile(k.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}})
	return err
}

// quiet fails when settling writes something.
func (k *cluster) quiet() {
	k.t.Helper()
	k.server.writes = nil
	k.settle()
	if k.server.writes != nil {
		k.t.Errorf("nothing has changed, and yet: %v", k.server.writes)
	}
}

// where are the namespaces that have copies of a name.
func (k *cluster) where(name string) string {
	var out []string
	for _, key := range k.server.keys() {
		if key.Name == name && v1alpha1.IsCopied(k.server.objects[key]) {
			out = append(out, key.Namespace)
		}
	}
	return strings.Join(out, " ")
}

func (k *cluster) create(o client.Object) {
	k.t.Helper()
	must.NoError(k.t, k.client.Create(k.t.Context(), o))
}

// change edits an object of the fake client, its status included.
func change[T client.Object](k *cluster, into T, namespace, name string, how func(T)) {
	k.t.Helper()
	must.NoError(k.t, k.client.Get(k.t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, into))
	how(into)
	must.NoError(k.t, k.client.Update(k.t.Context(), into))
}

// server is an API server of ClusterServiceVersions that are copies. It is the cache of copies too.
type server struct {
	mu      sync.Mutex
	objects map[types.NamespacedName]*v1alpha1.ClusterServiceVersion
	version int
	writes  []string
	fail    func(write string) error
	lose    func(write string) error // asked after a write, of which no answer arrives then
}

func (s *server) keys() []types.NamespacedName {
	var out []types.NamespacedName
	for key := range s.objects {
		out = append(out, key)
	}
	slices.SortFunc(out, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// edit is what a user does to a copy; a request that changes nothing is none.
func (s *server) edit(namespace, name, manager, subresource string, how func(*v1alpha1.ClusterServiceVersion)) {
	o := s.objects[types.NamespacedName{Namespace: namespace, Name: name}]
	before := o.DeepCopy()
	how(o)
	if a, b := mustJSON(before), mustJSON(o); string(a) == string(b) {
		return
	}
	s.grow(before, o)
	s.note(o, manager, subresource)
}

// grow gives a copy a new generation when its spec has changed.
func (s *server) grow(before, after *v1alpha1.ClusterServiceVersion) {
	if string(mustJSON(before.Spec)) != string(mustJSON(after.Spec)) {
		after.Generation++
	}
}

// owning are the fields of the status, as those of a manager.
func owning(o *v1alpha1.ClusterServiceVersion) *metav1.FieldsV1 {
	var status map[string]any
	if err := json.Unmarshal(mustJSON(o.Status), &status); err != nil {
		panic(err)
	}
	owned := map[string]any{}
	for key, value := range status {
		if value != nil {
			owned["f:"+key] = map[string]any{}
		}
	}
	return metav1.NewFieldsV1(string(mustJSON(map[string]any{"f:status": owned})))
}

func (s *server) note(o *v1alpha1.ClusterServiceVersion, manager, subresource string) {
	s.version++
	o.ResourceVersion = strconv.Itoa(s.version)
	o.ManagedFields = slices.DeleteFunc(o.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		return e.Subresource == subresource // whoever replaces everything owns everything
	})
	entry := metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource}
	if subresource == "status" {
		entry.FieldsV1 = owning(o)
	}
	o.ManagedFields = append(o.ManagedFields, entry)
}

func mustJSON(o any) []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return text
}

var csvs = schema.GroupResource{Group: v1alpha1.GroupName, Resource: resource}

func (s *server) begin(verb string, key types.NamespacedName) error {
	s.writes = append(s.writes, verb+" "+key.String())
	if s.fail == nil {
		return nil
	}
	return s.fail(verb + " " + key.String())
}

func (s *server) create(_ context.Context, key types.NamespacedName, body []byte) (*metav1.PartialObjectMetadata, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.begin("create", key); err != nil {
		return nil, err
	}
	if s.objects[key] != nil {
		return nil, apierrors.NewAlreadyExists(csvs, key.Name)
	}
	o := decode(body)
	o.Generation = 1
	o.Namespace, o.Status, o.UID = key.Namespace, v1alpha1.ClusterServiceVersionStatus{}, types.UID(key.String())
	s.objects[key] = o
	s.note(o, fieldManager, "")
	return s.answer("create", key)
}

func decode(body []byte) *v1alpha1.ClusterServiceVersion {
	o := &v1alpha1.ClusterServiceVersion{}
	if err := json.Unmarshal(body, o); err != nil {
		panic(fmt.Sprintf("%v: %s", err, body))
	}
	return o
}

func metadataOf(o *v1alpha1.ClusterServiceVersion) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: *o.ObjectMeta.DeepCopy()}
}

func (s *server) put(verb string, key types.NamespacedName, body []byte, subresource string, take func(old, asked *v1alpha1.ClusterServiceVersion)) (*metav1.PartialObjectMetadata, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.begin(verb, key); err != nil {
		return nil, err
	}
	o := s.objects[key]
	asked := decode(body)
	switch {
	case o == nil:
		return nil, apierrors.NewNotFound(csvs, key.Name)
	case asked.ResourceVersion != o.ResourceVersion:
		return nil, apierrors.NewConflict(csvs, key.Name, fmt.Errorf("%s is not %s", asked.ResourceVersion, o.ResourceVersion))
	}
	s.edit(key.Namespace, key.Name, fieldManager, subresource, func(o *v1alpha1.ClusterServiceVersion) { take(o, asked) })
	return s.answer(verb, key)
}

func (s *server) replace(_ context.Context, key types.NamespacedName, subresource string, body []byte) (*metav1.PartialObjectMetadata, error) {
	if subresource == "status" {
		return s.put("status", key, body, "status", func(old, asked *v1alpha1.ClusterServiceVersion) { old.Status = asked.Status })
	}
	return s.put("replace", key, body, "", func(old, asked *v1alpha1.ClusterServiceVersion) {
		old.Labels, old.Annotations, old.Spec = asked.Labels, asked.Annotations, asked.Spec
	})
}

func (s *server) remove(_ context.Context, key types.NamespacedName, uid types.UID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.begin("remove", key); err != nil {
		return err
	}
	if o := s.objects[key]; o == nil || o.UID != uid {
		return apierrors.NewNotFound(csvs, key.Name)
	}
	delete(s.objects, key)
	_, err := s.answer("remove", key)
	return err
}

func (s *server) answer(verb string, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	if s.lose != nil {
		if err := s.lose(verb + " " + key.String()); err != nil {
			return nil, err
		}
	}
	if o := s.objects[key]; o != nil {
		return metadataOf(o), nil
	}
	return nil, nil
}

func (s *server) read(_ context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	if o := s.objects[key]; o != nil {
		return metadataOf(o), nil
	}
	return nil, apierrors.NewNotFound(csvs, key.Name)
}

// Get and List are the cache of copies.
func (s *server) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	o := s.objects[key]
	if o == nil || o.Labels[v1alpha1.CopiedFromLabel] == "" {
		return apierrors.NewNotFound(csvs, key.Name)
	}
	*into.(*metav1.PartialObjectMetadata) = *trimmed(metadataOf(o))
	return nil
}

func (s *server) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	list := into.(*metav1.PartialObjectMetadataList)
	for _, key := range s.keys() {
		o := s.objects[key]
		small := trimmed(metadataOf(o))
		if o.Labels[v1alpha1.CopiedFromLabel] != "" && options.FieldSelector.Matches(fields.Set{indexBySource: sourceKey(small)[0]}) {
			list.Items = append(list.Items, *small)
		}
	}
	return nil
}

func group(targets ...string) *v1.OperatorGroup {
	now := metav1.Now()
	return &v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "group"}, Status: v1.OperatorGroupStatus{Namespaces: targets, LastUpdated: &now}}
}

// operator runs.
func operator(name string) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(name),
		Labels: map[string]string{"app": "x", "operators.coreos.com/op.operators": "", "olm.api.1": "provided"},
		Annotations: map[string]string{"olm.targetNamespaces": "a,b", "olm.operatorNamespace": ns, "olm.operatorGroup": "group",
			"kubectl.kubernetes.io/last-applied-configuration": "{}", "alm-examples": "[]"}}}
	csv.Spec.DisplayName = "The <operator> & \"friends\""
	csv.Status.Phase, csv.Status.Reason, csv.Status.Message = v1alpha1.CSVPhaseSucceeded, v1alpha1.CSVReasonInstallSuccessful, "install strategy completed with no errors"
	return csv
}

func namespaces(names ...string) []client.Object {
	var out []client.Object
	for _, name := range names {
		out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return out
}
