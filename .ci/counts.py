"""Prints which tests failed, why, and how many there were of all."""

import glob
import xml.etree.ElementTree as ET

passed = failed = skipped = 0
for report in sorted(glob.glob("**/target/*-reports/TEST-*.xml", recursive=True)):
    suite = ET.parse(report).getroot()
    bad = int(suite.get("errors")) + int(suite.get("failures"))
    failed += bad
    skipped += int(suite.get("skipped"))
    passed += int(suite.get("tests")) - bad - int(suite.get("skipped"))
    for case in suite.iter("testcase"):
        for end in [*case.iter("failure"), *case.iter("error")]:
            print(f"{case.get('classname')}.{case.get('name')}: {end.get('type')}")
            print("    " + "\n    ".join((end.text or "").splitlines()[:12]))
print(f"{passed} passed, {failed} failed, {skipped} skipped")
