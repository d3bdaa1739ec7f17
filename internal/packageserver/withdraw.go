package packageserver

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// linger is how long a process that others succeed keeps serving: API servers learn a little later that it has gone.
const linger = 2 * time.Second

// Clear removes the endpoints of processes that do not serve any more. When no one serves, the APIService goes, too, which a process that was
// killed has left: the API server would go on asking for what no one answers, and delete no namespace without the answer.
func (r *Registration) Clear(ctx context.Context) error {
	serving, err := r.removeSilent(ctx, r.reader, func(_ string, answered bool) bool { return !answered })
	if err != nil || serving > 0 {
		return err
	}
	return r.deleteAPIService(ctx)
}

// withdraw takes this process out of the registration, and the APIService with it when no one else serves. Its own endpoint goes first, so
// that of several that stop at the same time the last one finds no one.
func (r *Registration) withdraw(ctx context.Context) error {
	var err error
	own := r.options.slice()
	if gone := client.IgnoreNotFound(r.client.Delete(ctx, own)); gone != nil {
		err = fmt.Errorf("delete EndpointSlice %s/%s: %w", own.GetNamespace(), own.GetName(), gone)
	}
	others, failed := r.peers(ctx, r.reader)
	var serving map[string]bool
	if failed == nil {
		serving, failed = r.serving(ctx, others)
	}
	if failed == nil && len(serving) == 0 {
		failed = r.deleteAPIService(ctx)
	}
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("withdraw the package server, without which namespaces cannot be deleted; "+
			"when it stays away, delete APIService %s: %w", APIServiceName, err)
	}
	if len(serving) > 0 {
		timer := r.options.Clock.NewTimer(linger)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-ctx.Done():
		}
	}
	return nil
}

// apiService is the APIService, nil when there is none.
func (r *Registration) apiService(ctx context.Context) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(r.options.apiService(nil).GroupVersionKind())
	err := r.reader.Get(ctx, client.ObjectKey{Name: APIServiceName}, live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read APIService %s: %w", APIServiceName, err)
	}
	return live, nil
}

// bundle are the authorities that an APIService trusts, when it leads here.
func (o RegistrationOptions) bundle(apiService *unstructured.Unstructured) []byte {
	if apiService == nil || !o.leadsHere(apiService) {
		return nil
	}
	text, _, _ := unstructured.NestedString(apiService.Object, "spec", "caBundle")
	authorities, _ := base64.StdEncoding.DecodeString(text) // the API server takes nothing else
	return authorities
}

// deleteAPIService deletes it unless it leads to another server.
func (r *Registration) deleteAPIService(ctx context.Context) error {
	for {
		live, err := r.apiService(ctx)
		if err != nil || live == nil || !r.options.leadsHere(live) {
			return err
		}
		uid, version := live.GetUID(), live.GetResourceVersion()
		err = r.client.Delete(ctx, live, client.Preconditions{UID: &uid, ResourceVersion: &version})
		if apierrors.IsConflict(err) {
			continue // it was changed in between: by whom, and to lead where, is to be seen first
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete APIService %s: %w", APIServiceName, err)
		}
		return nil
	}
}
