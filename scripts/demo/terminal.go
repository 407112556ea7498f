package main

import (
	"context"
	"os"
	"unicode"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/term"
)

// screens reports whether there is somebody before a screen.
func screens() bool {
	name := os.Getenv("TERM")
	_, err := tcell.LookupTerminfo(name)
	return err == nil && name != "dumb" && os.Getenv("CI") == "" && os.Getenv("DEMO") != "plain" &&
		term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// paints are how a terminal shows styles.
var paints = map[style]tcell.Style{
	plain:  tcell.StyleDefault,
	faint:  tcell.StyleDefault.Foreground(tcell.ColorGray),
	strong: tcell.StyleDefault.Bold(true),
	good:   tcell.StyleDefault.Foreground(tcell.ColorGreen).Bold(true),
	alarm:  tcell.StyleDefault.Foreground(tcell.ColorRed).Bold(true),
	wary:   tcell.StyleDefault.Foreground(tcell.ColorYellow),
}

// onTerminal runs a show on the screen of this terminal, which is afterwards as it was.
func onTerminal(ctx context.Context, run func(ctx context.Context, keys <-chan rune, draw func(state)) error) error {
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return err
	}
	defer screen.Fini()
	keys := make(chan rune, 8)
	go func() {
		for {
			switch e := screen.PollEvent().(type) {
			case nil:
				return
			case *tcell.EventResize:
				screen.Sync()
			case *tcell.EventKey:
				if e.Key() == tcell.KeyCtrlC {
					interrupt()
				}
				select {
				case keys <- unicode.ToLower(e.Rune()):
				default: // nobody does anything more
				}
			}
		}
	}()
	return run(ctx, keys, func(s state) {
		screen.Clear()
		width, height := screen.Size()
		for y, l := range view(s, width, height) {
			x := 0
			for _, part := range l {
				screen.PutStrStyled(x, y, part.text, paints[part.style])
				x += len([]rune(part.text))
			}
		}
		screen.Show()
	})
}
