/** Whether a parsed condition holds. An unanswered widget makes every comparison false. */
export function holds(condition, answers) {
  if (condition === null || condition === undefined) return true;
  if (typeof condition === "boolean") return condition;
  if (condition.all) return condition.all.every((part) => holds(part, answers));
  if (condition.any) return condition.any.some((part) => holds(part, answers));
  if (condition.not) return !holds(condition.not, answers);
  const answer = answers[condition.id];
  if (!isAnswered(answer)) return false;
  return condition.op === "answered" || compare(answer, condition.op, condition.value);
}

/** Not nothing, "", [], nor passages of which one has no verdict. */
function isAnswered(answer) {
  if (answer === undefined || answer === null || answer.length === 0) return false;
  return !Array.isArray(answer) || answer.every((entry) => entry.verdict !== null);
}

/** Text equals no number, and is neither less nor greater than anything. */
function compare(answer, sign, value) {
  if (sign === "=") return answer === value;
  if (sign === "!=") return answer !== value;
  if (typeof answer !== "number" || typeof value !== "number") return false;
  return { "<": answer < value, "<=": answer <= value, ">": answer > value, ">=": answer >= value }[sign];
}
