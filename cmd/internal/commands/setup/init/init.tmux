# Share new panes with AI agents: they see a pane, and type only what you let them. From `gateway init tmux`, for ~/.tmux.conf.
# In a shared terminal, panes are not shared again: agents see tmux itself there.
set -g default-command @COMMAND@
# Who drives and who asks, in the status line, if you like:
# set -g status-interval 2
# set -g status-right-length 80
# set -ag status-right ' #(@GATEWAY@ status)'
