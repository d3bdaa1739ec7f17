package extensioncmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops"
)

// act shows a move, asks, and makes it.
func (m *migration) act(ctx context.Context, v *ops.Move, text func(io.Writer) error, question string, do func(context.Context, *ops.Move, func(string)) error, after string) error {
	if err := m.output.Write(m.streams.Out, v, text); err != nil {
		return err
	}
	if len(v.Refused) > 0 {
		return command.ExitError{Code: command.ExitNo}
	}
	if m.dryRun {
		return nil
	}
	if !m.yes && !confirmed(m.streams, "\n"+question+" [y/N] ") {
		fmt.Fprintln(m.streams.Err, "Nothing was changed. To do it without being asked, add --yes.")
		return command.ExitError{Code: command.ExitNo}
	}
	printer := progressOf(m.streams, m.output)
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	err := do(ctx, v, func(what string) { printer.Done("%s", what) })
	var stale *ops.StaleError
	if errors.As(err, &stale) {
		fmt.Fprintln(m.streams.Err, err)
		return command.ExitError{Code: command.ExitNo}
	}
	if err != nil {
		return fmt.Errorf("%w\nWhat was done is listed above, and Secret %s has what there was before. The same command goes on from here; to take it back: fairlead migrate --undo %s%s",
			err, v.BackupSecret, v.Extension.Name, m.again)
	}
	printer.Done("%s", after)
	return nil
}
