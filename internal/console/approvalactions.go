package console

import (
	"context"
	"fmt"
	"net/http"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// key is the object that a form names.
func (q *query) key() (client.ObjectKey, error) {
	key := client.ObjectKey{Namespace: q.get(namespaceKey), Name: q.get("name")}
	if key.Name == "" {
		return key, &statusError{http.StatusBadRequest, "The form names no object: nothing was changed", "go back, load the page again, and send the form once more"}
	}
	return key, canBeNamespace(key.Namespace)
}

// meantPlan is the plan that a form names, as the page has shown it.
func meantPlan(ctx context.Context, q *query, name string) (*ops.WaitingPlan, error) {
	key, err := q.key()
	if err != nil {
		return nil, err
	}
	if name != "" {
		key.Name = name
	}
	plan, err := ops.FindWaitingPlan(ctx, q.user.client, key)
	if err != nil {
		return nil, err
	}
	if q.get("mark") == "" {
		return nil, &statusError{http.StatusBadRequest, "The form does not say which state of the plan it means: nothing was changed", "go back, load the page again, and send the form once more"}
	}
	if err := plan.Is(q.get("mark")); err != nil {
		return nil, changed(err)
	}
	return plan, nil
}

// changed is the answer where something is not what was shown any more.
func changed(err error) error {
	return &statusError{http.StatusConflict, err.Error(), "go back, and check what it would do now"}
}

func (c approvals) approvePlan(ctx context.Context, q *query) (done, error) {
	plan, err := meantPlan(ctx, q, "")
	if err != nil {
		return done{}, err
	}
	if err := plan.Approve(ctx, q.user.client, false); err != nil {
		return done{}, err
	}
	q.user.decided()
	return done{Notice: "Approved " + plan.Describe() + ". The manager carries it out now; Installed shows how far it is."}, nil
}

func (c approvals) discardPlan(ctx context.Context, q *query) (done, error) {
	plan, err := meantPlan(ctx, q, "")
	if err != nil {
		return done{}, err
	}
	if err := plan.Discard(ctx, q.user.client, false); err != nil {
		return done{}, err
	}
	q.user.decided()
	return done{Notice: "Deleted " + plan.Describe() + ". The manager decides again with what there is now; what it finds waits here in its turn."}, nil
}

// refuse takes a version out of those that a Subscription or ClusterExtension may have.
func (c approvals) refuse(ctx context.Context, q *query) (done, error) {
	key, err := q.key()
	if err != nil {
		return done{}, err
	}
	version, within, what, stays := q.get("version"), "", "", ""
	if q.get("kind") == olmv1.ClusterExtensionKind {
		what = "ClusterExtension " + key.Name
		within, err = ops.RefuseForExtension(ctx, q.user.client, key.Name, version, false)
	} else {
		plan, err := meantPlan(ctx, q, q.get("plan"))
		if err != nil {
			return done{}, err
		}
		what = "Subscription " + key.String()
		if within, stays, err = plan.Refuse(ctx, q.user.client, key.Name, version); err != nil {
			return done{}, err
		}
		if stays != "" {
			stays = fmt.Sprintf("\nInstallPlan %s stays: %s.", plan.Plan.Name, stays)
		}
	}
	if err != nil {
		return done{}, err
	}
	q.user.decided()
	return done{Notice: fmt.Sprintf("Refused version %s: %s moves only to versions within %q now, and what is installed stays. The manager decides again without it; where something else can be installed, that waits here in its turn. To take it back, change that range.%s",
		version, what, within, stays)}, nil
}

func (c approvals) approvePermissions(ctx context.Context, q *query) (done, error) {
	key, err := q.key()
	if err != nil {
		return done{}, err
	}
	digest, _, err := ops.WaitingPermissions(ctx, q.user.client, key.Name)
	if err != nil {
		return done{}, err
	}
	if digest != q.get("digest") {
		return done{}, changed(&ops.MeantError{Object: "ClusterExtension " + key.Name})
	}
	if _, _, err := ops.ChangeExtension(ctx, q.user.client, key.Name, ops.ExtensionChange{Acknowledge: &digest}); err != nil {
		return done{}, err
	}
	q.user.decided()
	return done{Notice: "Allowed ClusterExtension " + key.Name + " the permissions that its upgrade asks for. The manager begins it now."}, nil
}
