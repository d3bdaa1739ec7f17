package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// flushEvery is how many bytes of objects are sent at a time.
const flushEvery = 1 << 20

// rows are the objects of a collection that were asked for, in order: those of namespaces that come before the tenants', those that
// each tenant has, and those after them.
type rows struct {
	before, each, after []*object
	first, tenants      int // which tenants
}

func (r rows) count() int { return len(r.before) + len(r.each)*r.tenants + len(r.after) }

// at is the object at a position, and the tenant that it is of.
func (r rows) at(i int) (*object, int) {
	if i < len(r.before) {
		return r.before[i], 0
	}
	if i -= len(r.before); i < len(r.each)*r.tenants {
		return r.each[i%len(r.each)], r.first + i/len(r.each)
	}
	return r.after[i-len(r.each)*r.tenants], 0
}

// choose finds the objects that a request asks for.
func (s *apiServer) choose(c *collection, namespace string, query url.Values) (rows, error) {
	wanted, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return rows{}, err
	}
	field, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return rows{}, err
	}
	out := rows{tenants: s.tenants}
	if i, is := tenantOf(namespace, s.tenants); is {
		out.first, out.tenants = i, 1
	}
	for _, o := range c.objects {
		about := fields.Set{"metadata.name": o.name, "metadata.namespace": o.namespace}
		elsewhere := namespace != "" && namespace != o.namespace && !(o.repeated && out.tenants == 1)
		if elsewhere || !wanted.Matches(o.labels) || !o.repeated && !field.Matches(about) || o.repeated && !field.Empty() {
			continue
		}
		switch {
		case o.repeated:
			out.each = append(out.each, o)
		case len(out.each) == 0:
			out.before = append(out.before, o)
		default:
			out.after = append(out.after, o)
		}
	}
	return out, nil
}

// find finds one object.
func (s *apiServer) find(c *collection, namespace, name string) (*object, int) {
	tenant, of := tenantOf(namespace, s.tenants)
	if !c.namespaced {
		tenant, of = tenantOf(name, s.tenants)
	}
	for _, o := range c.objects {
		if o.repeated && of && (o.name == name || !c.namespaced) || !o.repeated && o.namespace == namespace && o.name == name {
			return o, tenant
		}
	}
	return nil, 0
}

// form is how an object was asked for.
func (o *object) form(r *http.Request) text {
	if onlyMetadata(r) {
		return o.metadata
	}
	return o.full
}

// list sends a list, or a page of it. Like the API server it sends all where any version will do, because it has all in memory then.
func (s *apiServer) list(w http.ResponseWriter, r *http.Request, c *collection, all rows) {
	query := r.URL.Query()
	from, _ := strconv.Atoi(query.Get("continue"))
	to := all.count()
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && query.Get("resourceVersion") != "0" {
		to = min(to, from+limit)
	}
	next := ""
	if to < all.count() {
		next = strconv.Itoa(to)
	}
	kind := fmt.Sprintf(`"kind":"%sList","apiVersion":%q`, c.kind, c.apiVersion)
	if onlyMetadata(r) {
		kind = `"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"`
	}
	w.Header().Set("Content-Type", "application/json")
	out := &bytes.Buffer{}
	fmt.Fprintf(out, `{%s,"metadata":{"resourceVersion":"%d","continue":%q},"items":[`, kind, lastVersion, next)
	for i := from; i < to; i++ {
		if i > from {
			out.WriteByte(',')
		}
		o, tenant := all.at(i)
		o.form(r).write(out, tenant)
		s.flush(w, out, flushEvery)
	}
	out.WriteString("]}")
	s.flush(w, out, 0)
}

// flush sends what has been gathered, if it is more than that many bytes.
func (s *apiServer) flush(w http.ResponseWriter, out *bytes.Buffer, most int) {
	if out.Len() <= most {
		return
	}
	s.count(0, out.Len())
	_, _ = w.Write(out.Bytes())
	out.Reset()
	if most == 0 {
		_ = http.NewResponseController(w).Flush()
	}
}

// watch sends what there is, where it is asked to and does so, and then nothing more: in this cluster nothing happens.
func (s *apiServer) watch(w http.ResponseWriter, r *http.Request, c *collection, all rows, done func()) {
	initial := r.URL.Query().Get("sendInitialEvents") == "true"
	if initial && !s.streams {
		fail(w, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", nil))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out := &bytes.Buffer{}
	if initial {
		for i := range all.count() {
			o, tenant := all.at(i)
			out.WriteString(`{"type":"ADDED","object":`)
			o.form(r).write(out, tenant)
			out.WriteString("}\n")
			s.flush(w, out, flushEvery)
		}
		kind := fmt.Sprintf(`"kind":%q,"apiVersion":%q`, c.kind, c.apiVersion)
		if onlyMetadata(r) {
			kind = metadataType
		}
		fmt.Fprintf(out, `{"type":"BOOKMARK","object":{%s,"metadata":{"resourceVersion":"%d","annotations":{%q:"true"}}}}`+"\n",
			kind, lastVersion, metav1.InitialEventsAnnotationKey)
	}
	s.flush(w, out, 0)
	_ = http.NewResponseController(w).Flush()
	done()
	seconds, err := strconv.Atoi(r.URL.Query().Get("timeoutSeconds"))
	if err != nil {
		seconds = 300
	}
	select {
	case <-r.Context().Done():
	case <-time.After(time.Duration(seconds) * time.Second):
	}
}
