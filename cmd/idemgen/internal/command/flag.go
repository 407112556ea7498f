package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wrongFlag says in words of our own what is wrong with a flag.
func wrongFlag(_ *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if short := e.GetSpecifiedShortnames(); short != "" {
			return fmt.Errorf("unknown flag -%s", short)
		}
		return fmt.Errorf("unknown flag --%s", e.GetSpecifiedName())
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value after it", e.GetFlag().Name)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		want := e.Unwrap()
		if e.GetFlag().Value.Type() == "bool" {
			want = errors.New("want true or false")
		}
		return fmt.Errorf("--%s cannot be %q: %w", e.GetFlag().Name, e.GetValue(), want)
	}
	if e, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return fmt.Errorf("%q is not a flag", e.GetSpecifiedFlag())
	}
	return err
}

// Require marks flags that must be given.
func Require(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(errors.Join(errors.New("a command requires a flag that it does not have"), err))
		}
	}
}

// requiredFlags refuses a command without all flags that it requires.
func requiredFlags(cmd *cobra.Command) error {
	var missing []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, required := f.Annotations[cobra.BashCompOneRequiredFlag]; required && !f.Changed {
			missing = append(missing, "--"+f.Name)
		}
	})
	if len(missing) > 0 {
		return fmt.Errorf("missing: %s; usage: %s", strings.Join(missing, ", "), strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
	return nil
}
