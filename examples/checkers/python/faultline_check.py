# faultline_check.py: a checker in Python that stays, for `faultline explore --check-loop`.
# Copy this file beside your checker. It needs Python 3.6 or newer and nothing else.
#
#   from faultline_check import check_loop, Noticed
#   def judge(directory, output):   # the crash state, and a file with what was acknowledged
#       ...                         # return None if the state is fine, or the reason if it is not
#   check_loop(judge)
#
# Raise Noticed("why") when the program says itself that its files are damaged. Any other exception
# means that the state is broken. What a judge opens it closes: the next state comes into the same
# directory.
import json
import os
import sys
import traceback


class Noticed(Exception):
    """The program has noticed the damage."""


def check_loop(judge):
    """Answers each request on standard input until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    # What a judge prints is no answer.
    os.dup2(2, 1)
    home = os.getcwd()
    for line in sys.stdin:
        request = json.loads(line)
        os.environ.update(request["environment"])
        os.chdir(request["directory"])
        try:
            reason = judge(request["directory"], request["output"])
            answer = "held" if reason is None else "broken " + reason
        except Noticed as notice:
            answer = "noticed " + str(notice)
        except Exception as error:
            traceback.print_exc()
            answer = "broken %s: %s" % (type(error).__name__, error)
        os.chdir(home)
        sys.stdout.flush()
        answers.write(" ".join(answer.split()) + "\n")
        answers.flush()
