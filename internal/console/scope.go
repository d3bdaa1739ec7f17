package console

import (
	"context"
	"slices"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scope is where a user may work, which every page asks: kept for a while.
type scope struct {
	mu    sync.Mutex
	read  time.Time
	all   bool
	names []string
}

// scopeFresh is for how long a scope is kept.
const scopeFresh = 30 * time.Second

// maxNamespaces is how many namespaces a page offers to choose from. Every other one can be typed.
const maxNamespaces = 500

// seesAll reports whether the user may see the operators of all namespaces.
func (u *User) seesAll(ctx context.Context) bool {
	all, _ := u.reads(ctx)
	return all
}

// namespaces are those that the user may know of.
func (u *User) namespaces(ctx context.Context) []string {
	_, names := u.reads(ctx)
	return names
}

func (u *User) reads(ctx context.Context) (all bool, names []string) {
	s := &u.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.read.IsZero() && time.Since(s.read) < scopeFresh {
		return s.all, s.names
	}
	s.all = u.may(ctx, "list", v1alpha1.GroupName, "subscriptions", "").Allowed
	s.names = nil
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := u.client.List(ctx, list, client.Limit(maxNamespaces)); err == nil { // who may not list them types the name
		for _, n := range list.Items {
			s.names = append(s.names, n.Name)
		}
		slices.Sort(s.names)
	}
	if ctx.Err() == nil {
		s.read = time.Now()
	}
	return s.all, s.names
}
