package ops

import (
	"fmt"
	"io"

	"fairlead.dev/fairlead/internal/messages"
)

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
