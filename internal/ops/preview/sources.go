package preview

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"google.golang.org/grpc/connectivity"
)

// sources are the catalogs in view of the namespace with their content. What a CatalogSource has that cannot be read is a problem of
// that catalog, as in a cluster; what the user named has to be there.
func (q *Question) sources(ctx context.Context, l *Library, n *snapshot.Namespace) error {
	for _, object := range q.Objects.Sources {
		object.Namespace = cmp.Or(object.Namespace, n.Name)
		if !q.inView(n, object.Namespace) {
			continue
		}
		s := snapshot.Source{Object: object}
		if !slices.ContainsFunc(q.Catalogs, func(c Catalog) bool { return q.place(c.Ref, n) == s.Ref() }) {
			x, err := q.content(ctx, l, &object)
			s.Served.Index = x
			switch state := object.Status.GRPCConnectionState; {
			case err == nil:
			case state == nil || state.LastObservedState != connectivity.Ready.String():
				s.Served.Problem = err.Error()
			default: // a catalog that the cluster serves is not to be repaired: only who asks cannot reach it
				s.Served.Problem = fmt.Sprintf("the cluster serves it, but it cannot be read by this command: %s", err)
				s.Served.Remedy = fmt.Sprintf("leave CatalogSource %[1]s/%[2]s as it is, and ask where its origin can be reached, or name its content with --catalog %[1]s/%[2]s=DIR|IMAGE",
					object.Namespace, object.Name)
			}
		}
		n.Sources = append(n.Sources, s)
	}
	for _, s := range q.unseen.sources() {
		named := slices.ContainsFunc(q.Catalogs, func(c Catalog) bool { return q.place(c.Ref, n) == s.Ref() })
		if !named {
			n.Sources = append(n.Sources, s)
		}
	}
	for _, c := range q.Catalogs {
		ref := q.place(c.Ref, n)
		x, err := l.read(ctx, c)
		if err != nil {
			return fmt.Errorf("read catalog %s from %s: %w", c.Ref, c.Source, err)
		}
		s := n.Source(ref)
		if s == nil {
			n.Sources = append(n.Sources, snapshot.Source{})
			s = &n.Sources[len(n.Sources)-1]
			s.Object.Namespace, s.Object.Name = ref.Namespace, ref.Name
			s.Object.Spec.Priority = c.Priority
		} else if s.Healthy() {
			return fmt.Errorf("catalog %s is named more than once: leave one out", ref)
		}
		s.Served = catalogstore.Entry{Index: x}
		s.Object.Spec.Priority = cmp.Or(c.Priority, s.Object.Spec.Priority)
	}
	slices.SortFunc(n.Sources, func(a, b snapshot.Source) int { return a.Ref().Compare(b.Ref()) })
	return twice(n.Sources, v1alpha1.CatalogSourceKind, func(s snapshot.Source) string { return s.Ref().String() })
}

// inView tells whether catalogs of another namespace are seen from one.
func (q *Question) inView(n *snapshot.Namespace, namespace string) bool {
	return namespace == n.Name || namespace == q.GlobalNamespace && !n.Annotated(v1alpha1.ExcludeGlobalNamespaceAnnotation)
}

// place gives a catalog that was named without its namespace one: that of the CatalogSource in view, or of the catalog that a
// Subscription names, or the namespace itself.
func (q *Question) place(ref catalog.Ref, n *snapshot.Namespace) catalog.Ref {
	if ref.Namespace != "" {
		return ref
	}
	for _, object := range q.Objects.Sources {
		if namespace := cmp.Or(object.Namespace, n.Name); object.Name == ref.Name && q.inView(n, namespace) {
			return catalog.Ref{Namespace: namespace, Name: ref.Name}
		}
	}
	for _, sub := range n.Subscriptions {
		if sub.Spec.CatalogSource == ref.Name && sub.Spec.CatalogSourceNamespace != "" {
			return catalog.Ref{Namespace: sub.Spec.CatalogSourceNamespace, Name: ref.Name}
		}
	}
	return catalog.Ref{Namespace: n.Name, Name: ref.Name}
}
