package ops

import (
	"context"
	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fmt"
	"io"
	"slices"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// judge says how far a migration, or its way back, has come, and what is in the way of going back.
func (m restoration) judge(ctx context.Context, v *Move) error {
	b := v.Backup
	sub, err := m.read(ctx, migrate.RefOf(b.Subscription))
	if err != nil {
		return err
	}
	v.Refused = nil
	if v.Returned = sub != nil && b.Kept.Returned == sub.GetUID() && sub.GetAnnotations()[frozenKey] == ""; v.Returned {
		return nil
	}
	if v.Unbegun, err = m.unbegun(ctx); err != nil {
		return fmt.Errorf("undo the migration of ClusterExtension %s: %w", b.Extension.Name, err)
	}
	if v.Unbegun {
		return nil
	}
	// The objects cannot be given back when they are those of another version by now.
	e, err := m.extension(ctx)
	var sets []olmv1.ClusterObjectSet
	if err == nil && e != nil {
		sets, err = revision.List(ctx, m.Client, e.Name, e.UID)
	}
	if i := slices.IndexFunc(sets, func(s olmv1.ClusterObjectSet) bool { return s.Spec.Revision > 1 }); i >= 0 {
		v.Refused = append(v.Refused, fmt.Sprintf("ClusterExtension %s has had another revision since (%s): its Deployments are not those that ClusterServiceVersion %s had, and would be rolled out",
			e.Name, sets[i].Name, m.Backup.CSV))
	}
	if why := stranger(sub, v); why != "" {
		v.Refused = append(v.Refused, why)
	}
	return err
}

// stranger says why the Subscription that is there must not be written: neither the migration nor the way back has left it so.
func stranger(sub *unstructured.Unstructured, v *Move) string {
	if sub == nil {
		return ""
	}
	field := func(u *unstructured.Unstructured, fields ...string) string {
		text, _, _ := unstructured.NestedString(u.Object, fields...)
		return text
	}
	b := v.Backup
	is, was := field(sub, "spec", "name"), field(b.Subscription, "spec", "name")
	installed := field(sub, "status", "installedCSV")
	switch {
	case is != was:
		return fmt.Sprintf("Subscription %s is another one: it asks for package %s, and that of the backup asked for %s; delete it, or leave ClusterExtension %s as it is", v.Subscription, is, was, b.Extension.Name)
	case sub.GetAnnotations()[frozenKey] != b.Extension.Name:
		return fmt.Sprintf("Subscription %s is there, and has no annotation %s: %s: another client has created it since, or has removed that; delete it to get that of the backup back, or leave ClusterExtension %[3]s as it is",
			v.Subscription, frozenKey, b.Extension.Name)
	case installed != "" && installed != b.CSV.Name:
		return fmt.Sprintf("Subscription %s has installed %s meanwhile, and the backup has ClusterServiceVersion %s", v.Subscription, installed, b.CSV)
	}
	return ""
}

// WriteBack prints what would be done to take a migration back.
func (v *Move) WriteBack(w io.Writer) error {
	switch secret := messages.Clean(v.BackupSecret); {
	case v.Returned:
		_, err := fmt.Fprintf(w, "Subscription %s has its operator back already. Secret %s, which has the backup, is deleted.\n", messages.Clean(v.Plan.Subscription), secret)
		return err
	case v.Unbegun:
		_, err := fmt.Fprintf(w, "Nothing of Subscription %s was adopted. Its approval becomes what it was, and Secret %s, which has the backup, is deleted.\n", messages.Clean(v.Plan.Subscription), secret)
		return err
	}
	if err := v.Plan.WriteBack(w); err != nil || len(v.Rights) == 0 || len(v.Refused) > 0 {
		return err
	}
	if _, err := io.WriteString(w, "\nRights that come back:\n"); err != nil {
		return err
	}
	for _, r := range v.Rights {
		if _, err := fmt.Fprintf(w, "  - %s\n", messages.Clean(r)); err != nil {
			return err
		}
	}
	return nil
}
