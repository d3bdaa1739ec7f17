package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops"
)

// uninstallPage is what goes and what stays with an operator.
type uninstallPage struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	*ops.Removal
	// KeepCRDs keeps all CustomResourceDefinitions, and Delete are those that go with their custom resources, as the address asks.
	KeepCRDs bool            `json:"keepCRDs,omitempty"`
	Delete   map[string]bool `json:"delete,omitempty"`
	// MoreGoes and MoreStays are how many objects are not shown.
	MoreGoes  int    `json:"moreGoes,omitempty"`
	MoreStays int    `json:"moreStays,omitempty"`
	Right     Right  `json:"right"`
	At        string `json:"-"`
	// Shown is the choice of CustomResourceDefinitions that the page is about, as an address has it.
	Shown string `json:"-"`
}

// crdChoice is what a form or an address says of CustomResourceDefinitions.
func crdChoice(q *query) url.Values {
	out := url.Values{}
	if q.get("keep") == "yes" {
		out.Set("keep", "yes")
	}
	if deletes := slices.Sorted(slices.Values(q.values["delete"])); len(deletes) > 0 {
		out["delete"] = slices.Compact(deletes)
	}
	return out
}

// choose shows what goes with a choice of CustomResourceDefinitions.
func (c operatorPages) choose(_ context.Context, q *query) (done, error) {
	return done{To: q.operator().at() + "/uninstall?" + crdChoice(q).Encode()}, nil
}

func (p *uninstallPage) pageTitle() string { return "Uninstall " + p.Name }

// maxListed is how many objects of a kind of list a page shows.
const maxListed = 200

func (c operatorPages) uninstall(ctx context.Context, q *query) (any, error) {
	o := q.operator()
	removal, options, err := removalOf(ctx, q, o)
	if err != nil {
		return nil, err
	}
	p := &uninstallPage{Kind: o.kind, Namespace: o.Namespace, Name: o.Name, Removal: removal, KeepCRDs: options.KeepCRDs, Delete: map[string]bool{}, Right: o.rights(ctx, q.user).Remove, At: o.at(), Shown: crdChoice(q).Encode()}
	for _, name := range options.DeleteCRDs {
		p.Delete[name] = true
	}
	if !q.whole {
		p.MoreGoes, p.MoreStays = max(0, len(removal.Goes)-maxListed), max(0, len(removal.Stays)-maxListed)
		removal.Goes, removal.Stays = removal.Goes[:len(removal.Goes)-p.MoreGoes], removal.Stays[:len(removal.Stays)-p.MoreStays]
	}
	return p, nil
}

// leaveOut is what to do where a choice of CustomResourceDefinitions cannot be.
const leaveOut = "leave that CustomResourceDefinition out"

// removalOf finds out what goes and what stays, by what the form or the address says of CustomResourceDefinitions.
func removalOf(ctx context.Context, q *query, o operatorRef) (*ops.Removal, ops.UninstallOptions, error) {
	options := ops.UninstallOptions{Name: o.Name, Namespace: o.Namespace, KeepCRDs: q.get("keep") == "yes", DeleteCRDs: q.values["delete"]}
	// The address names an object, so that it is not found by another name, as that of its package.
	object, key := o.object()
	if err := q.user.client.Get(ctx, key, object); err != nil {
		return nil, options, fmt.Errorf("read %s: %w", o.title(), err)
	}
	if o.kind == olmv1.ClusterExtensionKind {
		removal, err := ops.UninstallExtension(ctx, q.user.client, options)
		return removal, options, unfit(err, leaveOut)
	}
	removal, err := ops.UninstallSubscription(ctx, q.user.client, options)
	return removal, options, unfit(err, leaveOut)
}

// doUninstall removes an operator in the background, when its name was typed.
func (c operatorPages) doUninstall(ctx context.Context, q *query) (done, error) {
	o := q.operator()
	if q.get("confirm") != o.Name {
		return done{}, &statusError{http.StatusBadRequest, "Uninstall " + o.title() + ": nothing was removed, as its name was not typed to confirm that", "go back, and type " + o.Name}
	}
	if choice := crdChoice(q).Encode(); q.get(shownKey) != choice {
		return done{Notice: "The choice of CustomResourceDefinitions was changed after this page was made, so that nothing was removed. This is what goes with it now: read it, then confirm it.", To: o.at() + "/uninstall?" + choice}, nil
	}
	removal, _, err := removalOf(ctx, q, o)
	if err != nil {
		return done{}, err
	}
	to := "/installed?" + url.Values{namespaceKey: {o.Namespace}}.Encode()
	client := q.user.client
	err = c.runner.begin(ctx, q, "Removal of "+o.title(), to, func(ctx context.Context, tell func(string)) (string, error) {
		if err := removal.Run(ctx, client, tell); err != nil {
			return "", advised(err, "remove what is in the way, then uninstall "+removal.Again()+", to continue; what was removed by now is gone")
		}
		return "it is removed", nil
	})
	if err != nil {
		return done{}, err
	}
	return done{Notice: o.title() + " is being removed", To: to}, nil
}
