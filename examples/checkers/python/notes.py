# notes.py: every acknowledged note is there. Try it:
#   faultline explore --setup 'touch notes' --workload 'sh ../notes.sh' --check-loop 'python3 notes.py'
from faultline_check import check_loop


def judge(directory, output):
    with open("notes") as notes:
        there = notes.read().splitlines()
    with open(output) as acknowledged:
        for number in acknowledged.read().split():
            if "note " + number not in there:
                return "note %s was acknowledged and is lost" % number
    return None


check_loop(judge)
