package crd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// shelf is a reader and writer of objects with numbers, in pages.
type shelf struct {
	client.Client
	objects int
	bytes   int // of each object
	// expire says which reads fail because their token has expired, and with which token in exchange.
	expire map[int]string
	limits []int64
	seen   []int // where pages began
	reads  int

	mu      sync.Mutex
	patched map[string]int
	refuse  map[string][]error // what patches of an object answer, in order
}

func (s *shelf) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	s.reads++
	if token, expired := s.expire[s.reads]; expired {
		err := apierrors.NewResourceExpired("the token is too old")
		err.ErrStatus.Continue = token
		return err
	}
	from, _ := strconv.Atoi(o.Continue)
	s.limits, s.seen = append(s.limits, o.Limit), append(s.seen, from)
	to := min(from+int(o.Limit), s.objects)
	for i := from; i < to; i++ {
		name := fmt.Sprintf("w%d", i)
		switch list := list.(type) {
		case *unstructured.UnstructuredList:
			object := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(9), "text": strings.Repeat("x", s.bytes)}}}
			object.SetName(name)
			list.Items = append(list.Items, object)
		case *metav1.PartialObjectMetadataList:
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	}
	if to < s.objects {
		list.SetContinue(strconv.Itoa(to))
	}
	return nil
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if crd, ok := o.(*definition); ok {
		*crd = *off()
		return nil
	}
	if key.Name == "gone" || key.Name == "w2" {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return nil
}

func (s *shelf) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.patched == nil {
		s.patched = map[string]int{}
	}
	n := s.patched[o.GetName()]
	s.patched[o.GetName()]++
	if answers := s.refuse[o.GetName()]; len(answers) > 0 {
		return answers[min(n, len(answers)-1)]
	}
	return nil
}

func (s *shelf) Status() client.SubResourceWriter { return status{} }

type status struct{ client.SubResourceWriter }

func (status) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return nil
}

// off is a CRD that stores v1 and once stored v1alpha1.
func off() *definition {
	c := &definition{}
	text := `{metadata: {name: widgets.example.com, generation: 2}, spec: {group: example.com, names: {kind: Widget}, versions: [{name: v1alpha1}, {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}, status: {storedVersions: [v1alpha1, v1]}}`
	if err := yaml.UnmarshalStrict([]byte(text), c); err != nil {
		panic(err)
	}
	return c
}

func limited(maximum string) *definition {
	c := off()
	text := "{type: object, properties: {spec: {type: object, properties: {size: {type: integer" + maximum + "}, text: {type: string}}}}}"
	if err := yaml.Unmarshal([]byte(text), c.Spec.Versions[1].Schema.OpenAPIV3Schema); err != nil {
		panic(err)
	}
	return c
}

func TestTokensExpire(t *testing.T) {
	tests := map[string]struct {
		expire map[int]string
		seen   []int
		err    bool
	}{
		"never":                          {nil, []int{0, 100, 600}, false},
		"the second, with an exchange":   {map[int]string{2: "101"}, []int{0, 101, 601}, false},
		"every one, with an exchange":    {map[int]string{2: "100", 4: "600"}, []int{0, 100, 600}, false},
		"without an exchange, so again":  {map[int]string{2: ""}, []int{0, 0, 500, 1000}, true},
		"the exchanged one expires also": {map[int]string{2: "100", 3: "100"}, []int{0, 0, 500, 1000}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &shelf{objects: 1050, expire: tc.expire}
			c := must.Value(NewScan(s, limited(""), limited(", maximum: 5"), []string{"v1"}, nil))(t)
			failed := false
			for !c.Done() {
				if err := c.Advance(t.Context(), 1); err != nil {
					failed = true
				}
			}
			if diff := cmp.Diff(tc.seen, s.seen); diff != "" || failed != tc.err {
				t.Errorf("pages began at, failed %t: %s", failed, diff)
			}
			if c.Objects != 1050-len(tc.expire)*boolean(name == "the second, with an exchange") || c.Invalid != c.Objects {
				t.Errorf("%d objects, %d invalid", c.Objects, c.Invalid)
			}
		})
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestLargeObjectsMakeSmallPages has objects of 200 kB: 500 of them would be 100 MB.
func TestLargeObjectsMakeSmallPages(t *testing.T) {
	s := &shelf{objects: 300, bytes: 200_000}
	c := must.Value(NewScan(s, limited(""), limited(", maximum: 5"), []string{"v1"}, nil))(t)
	if err := c.Advance(t.Context(), 10); err != nil || !c.Done() {
		t.Fatal(err)
	}
	must.Equal(t, "limits", s.limits, []int64{100, 83, 83, 83})
}

// costly is a schema whose rule costs about two millions for an object of the shelf that has 900 bytes.
func costly() *definition {
	c := limited("")
	text := "{type: object, properties: {spec: {type: object, properties: {size: {type: integer, maximum: 5}, text: {type: string, maxLength: 2000}}, " +
		"x-kubernetes-validations: [{rule: \"self.text.split('').all(c, self.text.split('').exists(d, c == d))\", message: no}]}}}"
	if err := yaml.Unmarshal([]byte(text), c.Spec.Versions[1].Schema.OpenAPIV3Schema); err != nil {
		panic(err)
	}
	return c
}

// TestCostlyRulesMakeSmallPages has rules that cost more for a page than a page may cost: every object is looked at nevertheless, and once.
func TestCostlyRulesMakeSmallPages(t *testing.T) {
	s := &shelf{objects: 30, bytes: 900}
	c := must.Value(NewScan(s, limited(""), costly(), []string{"v1"}, nil))(t)
	c.cost = 3_000_000
	for rounds := 0; !c.Done(); rounds++ {
		if err := c.Advance(t.Context(), 20); err != nil || rounds > 30 {
			t.Fatalf("round %d: %v", rounds, err)
		}
	}
	if c.Objects != 30 || c.Invalid != 30 {
		t.Errorf("%d of %d objects are invalid; pages began at %v, with limits %v", c.Invalid, c.Objects, s.seen, s.limits)
	}
	if s.reads < 3 {
		t.Errorf("%d reads: the rules cost too little for this test", s.reads)
	}
}

// TestAnInterruptedPageIsReadAgain stops in the middle of a page.
func TestAnInterruptedPageIsReadAgain(t *testing.T) {
	s := &shelf{objects: 30, bytes: 900}
	c := must.Value(NewScan(s, limited(""), costly(), []string{"v1"}, nil))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Advance(ctx, 20); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the time was enough: %v", err)
	}
	for !c.Done() {
		must.NoError(t, c.Advance(t.Context(), 20))
	}
	must.Equal(t, "of objects are invalid", c.Objects, 30)
	must.Equal(t, "of objects are invalid", c.Invalid, 30)
}

// TestWhatWasFoundInOneVersionStays has a token that expires while the objects are read in a second version.
func TestWhatWasFoundInOneVersionStays(t *testing.T) {
	two := func(c *definition) *definition {
		second := *c.Spec.Versions[1].DeepCopy()
		second.Name, second.Storage = "v2", false
		c.Spec.Versions = append(c.Spec.Versions, second)
		c.Spec.Conversion = deadConversion()
		return c
	}
	s := &shelf{objects: 700, expire: map[int]string{5: ""}}
	c := must.Value(NewScan(s, two(limited("")), two(limited(", maximum: 5")), []string{"v1", "v2"}, nil))(t)
	for !c.Done() {
		if err := c.Advance(t.Context(), 1); err != nil && !apierrors.IsResourceExpired(err) {
			t.Fatal(err)
		}
	}
	if c.Objects != 1400 || c.Invalid != 1400 || c.Sample[0].Problem.Version != "v1" {
		t.Errorf("%d of %d, %v", c.Invalid, c.Objects, c.Sample)
	}
}

func TestObjectsThatCannotBeRewritten(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "w", errors.New("others write it"))
	gone := apierrors.NewNotFound(schema.GroupResource{}, "w")
	denied := errors.New("admission webhook denied the request")
	tests := map[string]struct {
		refuse  map[string][]error
		patched map[string]int
		want    string
	}{
		"none":                            {nil, nil, ""},
		"gone meanwhile":                  {map[string][]error{"w2": {gone}}, map[string]int{"w2": 1}, ""},
		"said to be gone, but it is not":  {map[string][]error{"w1": {gone}}, map[string]int{"w1": 1}, "that fails for w1"},
		"others write it for a while":     {map[string][]error{"w1": {conflict, conflict, nil}}, map[string]int{"w1": 3}, ""},
		"others write it all the time":    {map[string][]error{"w1": {conflict}}, map[string]int{"w1": 4}, "others write it"},
		"denied":                          {map[string][]error{"w3": {denied}}, map[string]int{"w3": 1}, "the new CustomResourceDefinition widgets.example.com does not have version v1alpha1, so objects that may be stored in it must be rewritten, but that fails for w3: admission webhook denied the request; mend or delete these objects"},
		"many are denied":                 {map[string][]error{"w0": {denied}, "w1": {denied}, "w4": {denied}, "w5": {denied}, "w6": {denied}, "w7": {denied}, "w8": {denied}}, nil, "fails for w0, w1, w4, w5, w6, and 2 more: "},
		"one of the second page":          {map[string][]error{"w700": {denied}}, nil, "fails for w700"},
		"denied first, and then no more":  {map[string][]error{"w3": {denied, nil}}, map[string]int{"w3": 1}, "fails for w3"},
		"nothing is known of the failure": {map[string][]error{"w3": {errors.New("")}}, nil, "fails for w3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &shelf{objects: 800, refuse: tc.refuse}
			m := Migration{Client: s, Reader: s, Live: off(), Leaving: []string{"v1alpha1"}, Now: time.Now()}
			p, err := m.Advance(t.Context(), 9)
			if p.Done != (tc.want == "") || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%+v: %v", p, err)
			}
			for name, n := range tc.patched {
				must.Equal(t, name, s.patched[name], n)
			}
			must.Equal(t, "the position was noted times", s.patched["widgets.example.com"], boolean(name == "one of the second page"))
		})
	}
}

// TestWhatIsLeftWithoutEstimate: an API server need not estimate how many objects follow; nothing is then said to be left that is.
func TestWhatIsLeftWithoutEstimate(t *testing.T) {
	s := &shelf{objects: 1200}
	m := Migration{Client: s, Reader: s, Live: off(), Leaving: []string{"v1alpha1"}, Now: time.Now()}
	waiting := must.Value(m.Rewrite(t.Context(), 1))(t)
	must.Contain(t, "what is waited for", waiting, " are rewritten as v1: ", " done, more to go")
}

// TestMigrationBeginsAgain has a position that the API server knows no way on from.
func TestMigrationBeginsAgain(t *testing.T) {
	s := &shelf{objects: 1200, expire: map[int]string{1: ""}}
	crd := off()
	crd.Annotations = map[string]string{PositionAnnotation: `{"generation":2,"leaving":["v1alpha1"],"storage":"v1","rewritten":500,"continue":"500"}`}
	m := Migration{Client: s, Reader: s, Live: crd, Leaving: []string{"v1alpha1"}, Now: time.Now()}
	if p, err := m.Advance(t.Context(), 9); !apierrors.IsResourceExpired(err) || p.Done {
		t.Fatalf("%+v, %v", p, err)
	}
	must.Equal(t, "the position that leads nowhere was kept", s.patched["widgets.example.com"], 1)
	m.Live = off()
	if p, err := m.Advance(t.Context(), 9); err != nil || !p.Done {
		t.Fatalf("%+v, %v", p, err)
	}
	must.Equal(t, "seen", s.seen, []int{0, 500, 1000})
}

// TestWhatWebhooksSayIsBounded has one that says too much, and steers terminals.
func TestWhatWebhooksSayIsBounded(t *testing.T) {
	e := &RewriteError{Why: "objects", Objects: []string{"a"}, Err: errors.New("\x1b[2J" + strings.Repeat("no ", 100_000))}
	if text := e.Error(); len(text) > 1300 || strings.Contains(text, "\x1b") || !strings.HasSuffix(text, "...; mend or delete these objects") {
		t.Errorf("%d bytes: %.200q", len(text), text)
	}
}

func TestNoVersionIsServed(t *testing.T) {
	crd := off()
	crd.Spec.Versions[1].Served = false
	m := Migration{Live: crd, Leaving: []string{"v1alpha1"}, Now: time.Now()}
	_, err := m.Advance(t.Context(), 1)
	must.Fail(t, "Advance", err, "set served: true")
	if c, err := NewScan(nil, crd, off(), nil, nil); err != nil || !c.Done() {
		t.Errorf("nothing can be read, so nothing is: %v", err)
	}
}

// TestPositionsOfOthers has positions that do not belong to the migration.
func TestPositionsOfOthers(t *testing.T) {
	leaving := []string{"v1alpha1"}
	mine := position{Generation: 2, Leaving: leaving, Storage: StorageVersion(off()), Rewritten: 500, Token: "500"}
	tests := map[string]struct {
		note string
		from string
	}{
		"mine":                    {`{"uid":"","generation":2,"leaving":["v1alpha1"],"storage":"v1","rewritten":500,"continue":"500"}`, "500"},
		"of an older CRD":         {`{"uid":"","generation":1,"leaving":["v1alpha1"],"storage":"v1","rewritten":500,"continue":"500"}`, ""},
		"of a CRD in a backup":    {`{"uid":"other","generation":2,"leaving":["v1alpha1"],"storage":"v1","rewritten":500,"continue":"500"}`, ""},
		"of fewer versions":       {`{"uid":"","generation":2,"leaving":[],"storage":"v1","rewritten":500,"continue":"500"}`, ""},
		"of another storage":      {`{"uid":"","generation":2,"leaving":["v1alpha1"],"storage":"v2","rewritten":500,"continue":"500"}`, ""},
		"something else entirely": {`once upon a time`, ""},
		"none":                    {``, ""},
	}
	for name, tc := range tests {
		crd := off()
		crd.Annotations = map[string]string{PositionAnnotation: tc.note}
		got := positionOf(crd, leaving)
		if got.Token != tc.from || tc.from != "" && !cmp.Equal(got, mine) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
