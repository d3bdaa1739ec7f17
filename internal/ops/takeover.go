package ops

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/ops/migrate"
)

// takeOver waits until the ClusterExtension has the objects. Nothing is taken from the ClusterServiceVersion before it has all of them.
func (m adoption) takeOver(tell func(string)) func(context.Context) error {
	b := m.Backup
	return func(ctx context.Context) error {
		if _, err := WaitExtension(ctx, m.Client, b.Extension.Name, func(_, message string) { tell(message) }); err != nil {
			return fmt.Errorf("%w\nThe operator runs as before, and belongs to the ClusterServiceVersion", err)
		}
		if err := WaitRemoval(ctx, func() (string, error) { return m.missing(ctx) }); err != nil {
			return err
		}
		return m.noteAdded(ctx)
	}
}

// missing is an object that does not belong to the ClusterExtension, or why that cannot be told.
func (m adoption) missing(ctx context.Context) (string, error) {
	b := m.Backup
	e, err := m.extension(ctx)
	if err != nil {
		return "", err
	}
	if e == nil {
		return "", fmt.Errorf("read ClusterExtension %s: another client has deleted it meanwhile", b.Extension.Name)
	}
	owners, err := m.owners(ctx, e)
	if err != nil {
		return "", err
	}
	for _, u := range b.Adopted {
		live, err := m.read(ctx, migrate.RefOf(u))
		if err != nil {
			return "", err
		}
		if live == nil {
			return migrate.Name(u) + " is not there", nil
		}
		if !ownedBy(live, owners) {
			return migrate.Name(u) + " does not belong to the ClusterExtension yet", nil
		}
	}
	return "", nil
}
