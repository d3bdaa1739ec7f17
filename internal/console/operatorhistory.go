package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// rollbackPage is what a step back does, and whether it can be made.
type rollbackPage struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Rollback is nil while its proof is being made, and where Problem is why there is none.
	*ops.Rollback
	beside
	Right Right  `json:"right"`
	At    string `json:"-"`
	Asked string `json:"-"` // the revision of the address
}

func (p *rollbackPage) pageTitle() string { return "Roll back " + p.Name }

// Again is the address of the page with what is asked for.
func (p *rollbackPage) Again() string {
	return p.At + "/rollback?" + url.Values{"to": {p.Asked}}.Encode()
}

// rollback shows a step back. Its proof reads the content of revisions and all custom resources of what changes, and is kept for a while, for the object and its
// revisions as they are: doRollback makes its own.
func (c operatorPages) rollback(ctx context.Context, q *query) (any, error) {
	o := q.operator()
	h, to, err := waysBack(ctx, q, o)
	if err != nil {
		return nil, err
	}
	p := &rollbackPage{Kind: o.kind, Namespace: o.Namespace, Name: o.Name, Right: o.mayChange(ctx, q.user), At: o.at(), Asked: q.get("to")}
	p.Rollback, p.beside, err = madeBeside(ctx, q, o, c.proofs, strconv.FormatInt(to, 10), h.Version(), func(ctx context.Context) (*ops.Rollback, error) {
		return judge(ctx, q.user, h, to)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// waysBack are the revisions of an operator that are kept, and the number of the one that is asked for; 0 is the one before.
func waysBack(ctx context.Context, q *query, o operatorRef) (h *ops.History, to int64, err error) {
	if o.kind != olmv1.ClusterExtensionKind {
		return nil, 0, &statusError{http.StatusBadRequest, "roll back " + o.title() + ": the v0 API keeps no earlier revision and has no way back",
			"hold it at the installed version; or uninstall it and install an earlier version with manual approval, for which custom resources and their definitions stay; or make a ClusterExtension of it with fairlead migrate"}
	}
	if text := q.get("to"); text != "" {
		if to, err = strconv.ParseInt(text, 10, 64); err != nil || to < 1 {
			return nil, 0, &statusError{http.StatusBadRequest, "roll back " + o.title() + ": there is no revision of that number", "choose one of its history"}
		}
	}
	if h, err = ops.ListHistory(ctx, q.user.client, o.Name); err != nil {
		return nil, 0, err
	}
	return h, to, unfit(h.WayBack(to), anotherRevision)
}

const anotherRevision = "choose another revision of its history"

// judge finds out what going back does: to the revision of a number, or to the one before.
func judge(ctx context.Context, u *User, h *ops.History, to int64) (*ops.Rollback, error) {
	h.Check(ctx, u.client)
	back, err := h.Judge(ctx, u.client, to)
	return back, unfit(err, anotherRevision)
}

// doRollback goes back, if nothing is in the way: that is judged once more.
func (c operatorPages) doRollback(ctx context.Context, q *query) (done, error) {
	o := q.operator()
	h, to, err := waysBack(ctx, q, o)
	if err != nil {
		return done{}, err
	}
	back, err := judge(ctx, q.user, h, to)
	if err != nil {
		return done{}, err
	}
	if len(back.Blocked) > 0 {
		return done{}, &statusError{http.StatusConflict, fmt.Sprintf("%s stays at revision %d: custom resources would be lost or become unusable: %s", o.title(), back.From.Number, back.Blocked[0]),
			"read all that is in the way on the page before, and remove it first"}
	}
	if err := back.Apply(ctx, q.user.client); err != nil {
		return done{}, err
	}
	notice := fmt.Sprintf("%s returns to revision %d, and stays there until it is upgraded", o.title(), back.To.Number)
	if err := c.runner.begin(ctx, q, "Rollback of "+o.title(), o.at(), waitExtension(q.user, o.Name)); err != nil {
		notice += "\nWhat comes of it is not followed here: " + err.Error()
	}
	return done{Notice: notice, To: o.at()}, nil
}

// diffPage is what two kept versions of an operator differ in.
type diffPage struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	From      string `json:"from"`
	To        string `json:"to"`
	// Kept are those that can be compared, the newest first.
	Kept       []keptVersion       `json:"kept"`
	Difference *preview.Difference `json:"difference,omitempty"`
	At         string              `json:"-"`
}

func (p *diffPage) pageTitle() string { return "Versions of " + p.Name }

// keptVersion is a revision by its number, or an InstallPlan by its name.
type keptVersion struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func (c operatorPages) difference(ctx context.Context, q *query) (any, error) {
	o := q.operator()
	p := &diffPage{Kind: o.kind, Namespace: o.Namespace, Name: o.Name, From: q.get("from"), To: q.get("to"), Kept: []keptVersion{}, At: o.at()}
	var h *ops.History
	var err error
	switch o.kind {
	case olmv1.ClusterExtensionKind:
		if h, err = ops.ListHistory(ctx, q.user.client, o.Name); err != nil {
			return nil, err
		}
		for _, r := range h.Revisions {
			p.Kept = append(p.Kept, keptVersion{strconv.FormatInt(r.Number, 10), fmt.Sprintf("%d: %s (%s)", r.Number, r.Version, r.State)})
		}
	case v1alpha1.SubscriptionKind:
		h, err := ops.ReadSubscriptionHistory(ctx, q.user.client, o.ObjectKey)
		if err != nil {
			return nil, err
		}
		for _, r := range h.Plans {
			p.Kept = append(p.Kept, keptVersion{r.Name, r.Name + ": " + strings.Join(r.Installs, ", ")})
		}
	default:
		return nil, &statusError{http.StatusBadRequest, o.title() + " has no history: only Subscriptions and ClusterExtensions keep one", "compare the versions of its package instead"}
	}
	if len(p.Kept) > 1 && p.From == "" && p.To == "" { // the step that was made last
		p.To, p.From = p.Kept[0].ID, p.Kept[1].ID
	}
	if p.From == "" || p.To == "" || p.From == p.To {
		return p, nil
	}
	for _, id := range []string{p.From, p.To} {
		if !slices.ContainsFunc(p.Kept, func(k keptVersion) bool { return k.ID == id }) {
			return nil, &statusError{http.StatusNotFound, o.title() + " keeps nothing of that name to compare", "choose two of its history"}
		}
	}
	if o.kind == v1alpha1.SubscriptionKind {
		p.Difference, err = c.planner(q.user).InstallPlans(ctx, o.ObjectKey, p.From, p.To)
		return p, err
	}
	from, _ := strconv.ParseInt(p.From, 10, 64) // they are of the list
	to, _ := strconv.ParseInt(p.To, 10, 64)
	p.Difference, err = c.planner(q.user).Revisions(ctx, o.Name, h.Sets(), from, to)
	return p, err
}
