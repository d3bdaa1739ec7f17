package preview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State names what the question is decided on: as long as it is the same, an answer can be kept. When catalogs were last asked for another content, and
// when nothing came of it, does not count.
func (q *Question) State() string {
	sum := sha256.New()
	object := func(o metav1.Object) { fmt.Fprintf(sum, "%s %s\n", o.GetUID(), o.GetResourceVersion()) }
	fmt.Fprintf(sum, "%q %q %s %q %q\n", q.Namespace, q.GlobalNamespace, q.Kubernetes, q.Installed, q.Requests)
	for _, c := range q.Catalogs {
		fmt.Fprintf(sum, "%q %d %q\n", c.Ref, c.Priority, c.Source)
	}
	for i := range q.Objects.Subscriptions {
		object(&q.Objects.Subscriptions[i])
	}
	for i := range q.Objects.Operators {
		object(&q.Objects.Operators[i])
	}
	for i := range q.Objects.Plans {
		object(&q.Objects.Plans[i])
	}
	for i := range q.Objects.Groups {
		object(&q.Objects.Groups[i])
	}
	for i := range q.Objects.Extensions {
		object(&q.Objects.Extensions[i])
	}
	for i := range q.Objects.Sources {
		s := &q.Objects.Sources[i]
		fmt.Fprintf(sum, "%s %d %+v\n", s.UID, s.Generation, meta.FindStatusCondition(s.Status.Conditions, "Ready"))
	}
	for i := range q.Objects.Clustered {
		c := &q.Objects.Clustered[i]
		fmt.Fprintf(sum, "%s %d %+v", c.UID, c.Generation, meta.FindStatusCondition(c.Status.Conditions, olmv1.TypeServing))
		if s := c.Status.ResolvedSource; s != nil && s.Image != nil {
			fmt.Fprint(sum, s.Image.Ref)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
