package browser

import (
	"context"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Keys presses keys as a person does: a key carries its text, unless the page uses the key for
// itself.
func Keys(keys string, mods ...chromedp.Modifier) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (void chromedp.Void, err error) {
		for _, r := range keys {
			all := kb.Encode(r)
			down, up := *all[0], *all[len(all)-1]
			for _, m := range mods {
				down.Modifiers |= int64(m)
				up.Modifiers |= int64(m)
			}
			if len(all) == 3 && down.Modifiers&^int64(chromedp.ModifierShift) == 0 {
				down.Text, down.Type = all[1].Text, input.DispatchKeyEventTypeKeyDown
			}
			for _, e := range []input.DispatchKeyEventParams{down, up} {
				if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, e); err != nil {
					return void, err
				}
			}
		}
		return void, nil
	}
}
